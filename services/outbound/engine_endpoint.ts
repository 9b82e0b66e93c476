/**
 * An engine, or a proxy in front of one, that is reached over TCP. Who can connect to it is root on its
 * host, so that without TLS only private networks are used, and with TLS both sides are verified.
 *
 * @module
 */

import type { EngineEndpoint } from "../../engine/endpoint.ts";
import { EngineUnreachableError, type UnreachableReason } from "../../engine/errors.ts";
import type { Config } from "../config/config.ts";
import { OutboundError } from "./error.ts";
import { type OutboundDeps, resolveOutbound } from "./url.ts";

/** PEM: the authority of the engine, and the certificate and key of this client. */
export interface EngineIdentity {
  ca: string;
  cert: string;
  key: string;
}

/** Time limit of the DNS lookup, in milliseconds. */
const RESOLVE_MS = 5_000;

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
    async connect(signal) {
      try {
        if (identity) return await connectTls({ hostname, port }, identity);
        const addresses = await privateAddresses(
          // What users may call is another matter: an entry must not open the engine's address.
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
      ? `DOCKER_HOST: ${host} is not on a private network or this host, which plain TCP requires: ` +
        `use such an address, or TLS with ${TLS_VARIABLES}`
      : `DOCKER_HOST: ${cause.message}: start the engine's proxy, or correct the name`;
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

async function connectTls(
  target: { hostname: string; port: number },
  { ca, cert, key }: EngineIdentity,
): Promise<Deno.TlsConn> {
  const connection = await Deno.connectTls({ ...target, caCerts: [ca], cert, key });
  try {
    await connection.handshake();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function toFailure(cause: unknown, address: string): EngineUnreachableError {
  const { ConnectionRefused, InvalidData } = Deno.errors;
  const failure = (reason: UnreachableReason, message: string) =>
    new EngineUnreachableError(message, reason, { cause });
  const text = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof ConnectionRefused) {
    return failure(
      "refused",
      `No process listens at DOCKER_HOST=${address}: start the engine or its proxy, or correct the address`,
    );
  }
  const problem = /invalid peer certificate: (\w+)/.exec(text)?.[1];
  if (problem !== undefined) {
    return failure(
      "tls",
      `The certificate of DOCKER_HOST=${address} is not accepted (${problem}): ca.pem in ` +
        "DOCKER_CERT_PATH must be its authority, and it must be valid for this host",
    );
  }
  if (cause instanceof InvalidData) {
    return failure(
      "tls",
      `TLS to DOCKER_HOST=${address} failed: use the port on which the engine expects TLS, or ` +
        "remove DOCKER_TLS_VERIFY",
    );
  }
  return failure("refused", `DOCKER_HOST=${address} cannot be reached: ${text.slice(0, 200)}`);
}
