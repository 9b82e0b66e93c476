/**
 * An engine, or a proxy in front of one, that is reached over TCP. Who can connect to it is root on its
 * host, so that without TLS only private networks are used, and with TLS both sides are verified.
 *
 * @module
 */

import type { TLSSocket } from "node:tls";
import type { EngineConnection, EngineEndpoint } from "../../engine/endpoint.ts";
import { EngineUnreachableError } from "../../engine/errors.ts";
import type { Config } from "../config/config.ts";
import { nodeTls } from "../builtins.ts";
import { asOutboundError, OutboundError } from "./error.ts";
import { type OutboundDeps, resolveOutbound } from "./url.ts";

/** PEM: the authority of the engine, and the certificate and key of this client. */
export interface EngineIdentity {
  ca: string;
  cert: string;
  key: string;
}

/** Time limit of the DNS lookup, in milliseconds. */
const RESOLVE_MS = 5_000;

/** Proxies close idle connections after ten seconds, and a request at that moment would be lost. */
const IDLE_MS = 5_000;

const TLS_VARIABLES = "DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH";

/**
 * @param address.host Name or address, IPv6 in brackets.
 * @param options.identity Required unless the host is on a private network.
 * @param options.resolve Default: the system's resolver.
 */
export function tcpEndpoint(
  { host, port }: { host: string; port: number },
  { config, identity, resolve }: {
    config: Config;
    identity?: EngineIdentity | undefined;
    resolve?: OutboundDeps["resolve"];
  },
): EngineEndpoint {
  const address = `tcp://${host}:${port}`;
  const hostname = host.replace(/^\[(.*)\]$/, "$1");
  return {
    address,
    idleMs: IDLE_MS,
    async connect(signal) {
      try {
        if (identity) return await connectTls({ hostname, port }, identity, signal);
        const addresses = await privateAddresses(
          // Entries are for calls of users, and must not open an address for the engine.
          { config: { ...config, outboundAllow: [] }, ...(resolve && { resolve }) },
          host,
          signal,
        );
        return await connectFirst(addresses, port, signal);
      } catch (error) {
        throw error instanceof EngineUnreachableError ? error : toFailure(error, address);
      }
    },
  };
}

/** @throws {EngineUnreachableError} If one of them is not private. */
async function privateAddresses(
  deps: OutboundDeps,
  host: string,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(RESOLVE_MS)]);
    return await resolveOutbound(deps, host, "private", limit);
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    const message = cause.code === "blocked"
      ? `DOCKER_HOST: ${host} is not on a private network or this host, which plain TCP requires; ` +
        `use such an address, or TLS with ${TLS_VARIABLES}`
      : `DOCKER_HOST: ${cause.message}; start the engine's proxy, or correct the name`;
    throw new EngineUnreachableError(message, "address", { cause });
  }
}

async function connectFirst(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  let failure: unknown;
  for (const hostname of addresses) {
    try {
      const connection = await Deno.connect({ hostname, port, signal });
      connection.setNoDelay();
      // Streams may be silent for hours, and networks forget such connections.
      connection.setKeepAlive();
      return connection;
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

/** Not `Deno.connectTls`: closing it during a handshake does not close its socket. */
async function connectTls(
  { hostname, port }: { hostname: string; port: number },
  identity: EngineIdentity,
  signal: AbortSignal,
): Promise<EngineConnection> {
  const socket = nodeTls().connect({ host: hostname, port, ...identity });
  socket.setNoDelay();
  socket.setKeepAlive(true);
  const close = () => void socket.destroy();
  signal.addEventListener("abort", close);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("close", () => reject(new Error("The connection was closed")));
      // Stays: what happens later also fails a read or a write.
      socket.on("error", reject);
    });
    return toConnection(socket);
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Errors after the handshake are all ends of the connection. */
function toConnection(socket: TLSSocket): EngineConnection {
  const pieces: AsyncIterator<Uint8Array> = socket.iterator({ destroyOnReturn: false });
  let rest: Uint8Array = new Uint8Array();
  const asEnd = (cause: Error) => new Deno.errors.ConnectionReset(cause.message, { cause });
  return {
    async read(into) {
      while (rest.length === 0) {
        const { done, value } = await pieces.next().catch((cause) => {
          throw asEnd(cause);
        });
        if (done) return null;
        rest = value;
      }
      const length = Math.min(into.length, rest.length);
      into.set(rest.subarray(0, length));
      rest = rest.subarray(length);
      return length;
    },
    write: (bytes) =>
      new Promise((resolve, reject) =>
        socket.write(bytes, (cause) => cause ? reject(asEnd(cause)) : resolve(bytes.length))
      ),
    closeWrite: () => new Promise((resolve) => socket.end(resolve)),
    close: () => void socket.destroy(),
  };
}

function toFailure(cause: unknown, address: string): EngineUnreachableError {
  const { code, message } = asOutboundError(cause, { host: address });
  return code === "tls"
    ? new EngineUnreachableError(
      `DOCKER_HOST: ${message}; the port must expect TLS, and its certificate must be for this host ` +
        "and signed by ca.pem in DOCKER_CERT_PATH",
      "tls",
      { cause },
    )
    : new EngineUnreachableError(
      `DOCKER_HOST: ${message}; start the engine or its proxy, or correct the address`,
      "refused",
      { cause },
    );
}
