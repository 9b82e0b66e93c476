/** Finds the engine's socket. @module */

import { basename, dirname, join } from "node:path";

const DOCKER_SOCKET = "/var/run/docker.sock";
const PODMAN_SOCKET = "/run/podman/podman.sock";

/**
 * Finds the socket: `DOCKER_HOST`, then the usual paths of Docker, rootless Docker and Podman. A
 * missing socket in `DOCKER_HOST` is returned as well, as is Docker's if there is none at all,
 * because an engine may start later.
 *
 * @param options.dockerHost `unix://` and an absolute path.
 * @param options.uid For rootless sockets if `xdgRuntimeDir` is unknown.
 * @returns The path without symbolic links, as the runtime's permissions require.
 */
export async function findEngineSocket(
  { dockerHost, xdgRuntimeDir, home, uid }: {
    dockerHost?: string | null;
    xdgRuntimeDir?: string | undefined;
    home?: string | undefined;
    uid?: number | null | undefined;
  },
): Promise<string> {
  if (dockerHost) return await realPath(dockerHost.slice("unix://".length));
  const runtimeDir = xdgRuntimeDir || (uid ? `/run/user/${uid}` : undefined);
  const candidates = [
    DOCKER_SOCKET,
    runtimeDir && join(runtimeDir, "docker.sock"),
    home && join(home, ".docker/run/docker.sock"),
    PODMAN_SOCKET,
    runtimeDir && join(runtimeDir, "podman/podman.sock"),
  ];
  for (const path of candidates) {
    if (path && await isSocket(path)) return await realPath(path);
  }
  return await realPath(DOCKER_SOCKET);
}

async function isSocket(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isSocket ?? false;
  } catch {
    // Missing or not accessible: try the next path.
    return false;
  }
}

/** The path without symbolic links; for a missing file, of its directory only. */
async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    try {
      return join(await Deno.realPath(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}
