/**
 * The connection from a member to its hub, or from a hub to a host that waits for it. The certificate of
 * the other side is not checked, because its key is: a proxy that ends TLS in between sees sealed bytes
 * only. The name is resolved again for each connection, and redirects are refused.
 *
 * @module
 */

import type { Socket } from "node:net";
import { nodeNet, nodeTls } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { OutboundError } from "../../outbound/error.ts";
import { connectOptions } from "../../outbound/connection.ts";
import { checkProxied, connectThrough, proxyFor } from "../../outbound/proxy.ts";
import { type OutboundReach, resolveOutbound } from "../../outbound/url.ts";
import { isPeerError } from "./channel.ts";
import { type Connection, createConnection, type MessageSocket } from "./connection.ts";
import { MESSAGE_MAX } from "./noise.ts";

export type DialDeps = Pick<Deps, "config">;

/** The side that is dialled. */
export type Dialled = "hub" | "host";

/** Path of a hub's endpoint, below its address. */
export const LINK_PATH = "/fleet/link";

const PATHS: Record<Dialled, string> = { hub: LINK_PATH, host: "/fleet/hub" };

/** Time limit of a connection until it is a WebSocket, in milliseconds. */
const DIAL_MS = 15_000;

/** The other side cannot be reached; the message is a sentence. */
export class DialError extends AppError {
  override readonly name = "DialError";

  constructor(message: string, options?: ErrorOptions) {
    super("bad_gateway", message, options);
  }
}

/** The failure of a handshake with a token, as an {@linkcode AppError} if it is about the peer. */
export function describeRefusal(error: unknown, peer: Dialled): unknown {
  if ((error as Error).name === "TimeoutError") {
    return new DialError(`The ${peer} does not answer in time`, { cause: error });
  }
  if (!isPeerError(error)) return error;
  const message = `The ${peer} does not take the token: ${error.message}`;
  return new AppError("forbidden", message, { cause: error });
}

/**
 * Opens a connection. A host is dialled only where the outbound rules of this service allow it.
 *
 * @param address `https://…`, or with `FLEET_INSECURE=on` also `http://…` on a private network.
 * @throws {DialError}
 * @throws {AppError} `invalid` for an address that this host may not dial.
 */
export async function dial(
  deps: DialDeps,
  address: string,
  signal: AbortSignal,
  dialled: Dialled = "hub",
): Promise<Connection> {
  const url = new URL(address.replace(/\/$/, "") + PATHS[dialled]);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DIAL_MS)]);
  const transport = url.protocol === "https:"
    ? await connectTls(deps, url, dialled, limit)
    : await connectPlain(deps, url, dialled, limit);
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(url.href.replace(/^http/, "ws"), [], {
    createConnection: () => transport,
    followRedirects: false,
    perMessageDeflate: false,
    handshakeTimeout: DIAL_MS,
    maxPayload: MESSAGE_MAX,
  });
  // Before it is open: the first message of a host may arrive together with the answer.
  const connection = createConnection(socket as unknown as MessageSocket);
  await opened(socket, dialled, limit);
  return connection;
}

/** The part of `ws` that is used until the connection is a WebSocket. */
interface OpeningSocket {
  on(event: "open", listener: () => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(
    event: "unexpected-response",
    listener: (request: unknown, response: { statusCode?: number }) => void,
  ): void;
  terminate(): void;
}

function opened(socket: OpeningSocket, dialled: Dialled, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown) => {
      reject(new DialError(message, { cause }));
      socket.terminate();
    };
    const onLate = () => fail(`The ${dialled} does not answer`);
    signal.addEventListener("abort", onLate, { once: true });
    socket.on("open", () => {
      // The limit is for the handshake: an open link lasts.
      signal.removeEventListener("abort", onLate);
      resolve();
    });
    // Stays: what happens later ends the connection.
    socket.on(
      "error",
      (error) => fail(`The ${dialled} cannot be reached: ${error.message}`, error),
    );
    socket.on("unexpected-response", (_, { statusCode = 0 }) => {
      fail(describeStatus(statusCode, dialled));
    });
  });
}

function describeStatus(status: number, dialled: Dialled): string {
  if (status >= 300 && status < 400) {
    return `The ${dialled}'s address redirects: ${
      dialled === "hub" ? "invite with" : "use"
    } the final one`;
  }
  if (status === 503) return `The ${dialled} is busy`;
  if (status === 404) {
    return dialled === "hub"
      ? "The hub's address has no fleet"
      : "The host does not wait for this hub: its token was used or has expired, or it has left";
  }
  return `The ${dialled} answered ${status}`;
}

/** Without TLS, the address that was checked is the one that is used. */
async function connectPlain(
  deps: DialDeps,
  url: URL,
  dialled: Dialled,
  signal: AbortSignal,
): Promise<Socket> {
  const { config } = deps;
  if (config.fleetInsecure !== "on") {
    throw new AppError(
      "invalid",
      `The ${dialled}'s address must begin with https://; on a private network, FLEET_INSECURE=on ` +
        "allows http://",
    );
  }
  const [allowed = url.hostname] = dialled === "host"
    ? await resolve(deps, url.hostname, "internal", signal)
    : [];
  // Entries of OUTBOUND_ALLOW are for calls of users.
  const strict = { config: { ...config, outboundAllow: [] } };
  const [host] = await resolve(strict, allowed, "private", signal, () => {
    return `${url.hostname} is not on a private network, which http:// requires`;
  });
  return nodeNet().connect({ host: host!, port: Number(url.port) || 80 });
}

async function connectTls(
  deps: DialDeps,
  url: URL,
  dialled: Dialled,
  signal: AbortSignal,
): Promise<Socket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port) || 443;
  const servername = nodeNet().isIP(host) ? {} : { servername: host };
  const options = { ...servername, rejectUnauthorized: false };
  const proxy = proxyFor(deps.config, url);
  const checked = dialled === "host"
    ? await (proxy
      ? checkProxied(deps, url.hostname, "internal", signal).catch(rethrow())
      : resolve(deps, url.hostname, "internal", signal))
    : undefined;
  // A checked name of this host is reached directly.
  if (!proxy || checked) {
    const to = checked ? connectOptions(checked, DIAL_MS) : {};
    return nodeTls().connect({ ...options, ...to, host, port });
  }
  const target = `${url.hostname}:${port}`;
  const socket = await connectThrough(proxy, target, signal).catch(rethrow());
  return nodeTls().connect({ ...options, socket });
}

const resolve = (
  deps: DialDeps,
  host: string,
  reach: OutboundReach,
  signal: AbortSignal,
  describeBlocked?: () => string,
) => resolveOutbound(deps, host, reach, signal).catch(rethrow(describeBlocked));

const rethrow = (describeBlocked?: () => string) => (cause: unknown): never => {
  if (!(cause instanceof OutboundError)) throw cause;
  if (cause.code !== "blocked") throw new DialError(cause.message, { cause });
  throw new AppError("invalid", describeBlocked?.() ?? cause.message, { cause });
};
