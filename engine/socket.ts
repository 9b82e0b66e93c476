/**
 * Where the engine listens.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join } from "node:path";

export interface EngineSocket {
  /** Without symbolic links, as the runtime's permissions want it. */
  socketPath: string;
  /** `environment`: named by `DOCKER_HOST`; `default`: none was found. */
  source: "environment" | "docker" | "rootless docker" | "podman" | "rootless podman" | "default";
}

const DOCKER_SOCKET = "/var/run/docker.sock";
const PODMAN_SOCKET = "/run/podman/podman.sock";

/**
 * Finds the socket: `DOCKER_HOST`, then Docker's, rootless Docker's, and Podman's usual places. One
 * that is named but missing is answered all the same, and so is Docker's when there is none at all,
 * since an engine may come up later.
 *
 * @param options.uid For rootless sockets where `xdgRuntimeDir` is not known.
 * @throws {Error} When `DOCKER_HOST` names anything but an absolute path behind `unix://`.
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
    // Missing, or not ours to see: the next place may do.
    return false;
  }
}

/** The path without symbolic links; of a missing file at least its directory. */
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
