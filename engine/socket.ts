/**
 * Finds the engine's socket.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join } from "node:path";

export interface EngineSocket {
  /** Without symbolic links, as the runtime's permissions require. */
  socketPath: string;
  /** `environment`: from `DOCKER_HOST`; `default`: no socket was found. */
  source: "environment" | "docker" | "rootless docker" | "podman" | "rootless podman" | "default";
}

const DOCKER_SOCKET = "/var/run/docker.sock";
const PODMAN_SOCKET = "/run/podman/podman.sock";

/**
 * Finds the socket: `DOCKER_HOST`, then the usual paths of Docker, rootless Docker and Podman. A
 * missing socket in `DOCKER_HOST` is returned as well, as is Docker's if there is none at all,
 * because an engine may start later.
 *
 * @param options.uid For rootless sockets if `xdgRuntimeDir` is unknown.
 * @throws {Error} If `DOCKER_HOST` is not `unix://` and an absolute path.
 */
export async function findEngineSocket(
  { dockerHost, xdgRuntimeDir, home, uid }: {
    dockerHost?: string | undefined;
    xdgRuntimeDir?: string | undefined;
    home?: string | undefined;
    uid?: number | null | undefined;
  },
): Promise<EngineSocket> {
  if (dockerHost) {
    return { socketPath: await realPath(pathOf(dockerHost)), source: "environment" };
  }
  const runtimeDir = xdgRuntimeDir || (uid ? `/run/user/${uid}` : undefined);
  const candidates: [EngineSocket["source"], string | undefined][] = [
    ["docker", DOCKER_SOCKET],
    ["rootless docker", runtimeDir && join(runtimeDir, "docker.sock")],
    ["rootless docker", home && join(home, ".docker/run/docker.sock")],
    ["podman", PODMAN_SOCKET],
    ["rootless podman", runtimeDir && join(runtimeDir, "podman/podman.sock")],
  ];
  for (const [source, path] of candidates) {
    if (path && await isSocket(path)) return { socketPath: await realPath(path), source };
  }
  return { socketPath: await realPath(DOCKER_SOCKET), source: "default" };
}

function pathOf(dockerHost: string): string {
  const path = dockerHost.startsWith("unix://") ? dockerHost.slice("unix://".length) : undefined;
  if (path === undefined || !isAbsolute(path)) {
    throw new Error(
      `DOCKER_HOST is ${JSON.stringify(dockerHost)}, but only the engine of this host can be ` +
        `managed, through a socket such as unix:///var/run/docker.sock`,
    );
  }
  return path;
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
