/** Finds out whether published TCP ports answer. @module */

import type { ContainerInspect } from "../../../engine/containers.ts";

/** Address of a published port, as the host reaches it. */
export interface PublishedPort {
  address: string;
  port: number;
}

/** Longest connection attempt, and shortest open connection, in milliseconds. */
const CONNECT_MS = 1_000;
const OPEN_MS = 300;

/** Limit of ports that are probed; a container may publish thousands. */
const PORTS_MAX = 16;

/** The published TCP ports of a running container that answer now. */
export async function openPorts(container: ContainerInspect): Promise<PublishedPort[]> {
  const ports = publishedPorts(container).slice(0, PORTS_MAX);
  const answers = await Promise.all(ports.map(answersAt));
  return ports.filter((_, index) => answers[index]);
}

/** Reached from this host; a wildcard address is reached over loopback. */
function publishedPorts({ NetworkSettings }: ContainerInspect): PublishedPort[] {
  const bindings = Object.entries(NetworkSettings.Ports ?? {}).flatMap(([port, bindings]) =>
    port.endsWith("/tcp") ? bindings ?? [] : []
  );
  const published = bindings.flatMap(({ HostIp = "", HostPort }): PublishedPort[] =>
    HostPort ? [{ address: reachable(HostIp), port: Number(HostPort) }] : []
  );
  const seen = new Set<string>();
  return published.filter(({ address, port }) => {
    const key = `${address} ${port}`;
    return !seen.has(key) && seen.add(key);
  });
}

function reachable(address: string): string {
  if (address === "" || address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}

/**
 * Whether a server accepts a connection and keeps it open, or sends something. The engine's proxy
 * accepts connections also when no program listens in the container, and closes them at once.
 */
export async function answersAt({ address, port }: PublishedPort): Promise<boolean> {
  const connection = await connect(address, port);
  if (!connection) return false;
  const timer = setTimeout(() => connection.close(), OPEN_MS);
  let isClosed = false;
  try {
    const read = await connection.read(new Uint8Array(1));
    return read !== null;
  } catch (error) {
    // Closed by the timer: the server waits for a request.
    isClosed = error instanceof Deno.errors.BadResource ||
      error instanceof Deno.errors.Interrupted;
    return isClosed;
  } finally {
    clearTimeout(timer);
    if (!isClosed) connection.close();
  }
}

async function connect(hostname: string, port: number): Promise<Deno.TcpConn | undefined> {
  try {
    return await Deno.connect({ hostname, port, signal: AbortSignal.timeout(CONNECT_MS) });
  } catch {
    return undefined;
  }
}
