/**
 * The connection from a member to its hub. The certificate of the hub is not checked, because its key
 * is: a proxy that ends TLS in between sees sealed bytes only. The name is resolved again for each
 * connection, and redirects are refused.
 *
 * @module
 */

import type { Socket } from "node:net";
import { nodeNet, nodeTls } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { OutboundError } from "../../outbound/error.ts";
import { connectThrough, proxyFor } from "../../outbound/proxy.ts";
import { resolveOutbound } from "../../outbound/url.ts";
import { type Connection, createConnection, type MessageSocket } from "./connection.ts";
import { MESSAGE_MAX } from "./noise.ts";

export type DialDeps = Pick<Deps, "config">;

/** Path of the hub's endpoint, below its address. */
export const LINK_PATH = "/fleet/link";

/** Time limit of a connection until it is a WebSocket, in milliseconds. */
const DIAL_MS = 15_000;

/** The hub cannot be reached; the message is a sentence. */
export class DialError extends Error {
  override readonly name = "DialError";
}

/**
 * Opens a connection to a hub.
 *
 * @param address `https://…`, or with `FLEET_INSECURE=on` also `http://…` on a private network.
 * @throws {DialError}
 * @throws {AppError} `invalid` for an address that this host may not dial.
 */
export async function dial(
  deps: DialDeps,
  address: string,
  signal: AbortSignal,
): Promise<Connection> {
  const url = new URL(address.replace(/\/$/, "") + LINK_PATH);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DIAL_MS)]);
  const transport = url.protocol === "https:"
    ? await connectTls(deps, url, limit)
    : await connectPlain(deps, url, limit);
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(url.href.replace(/^http/, "ws"), [], {
    createConnection: () => transport,
    followRedirects: false,
    perMessageDeflate: false,
    handshakeTimeout: DIAL_MS,
    maxPayload: MESSAGE_MAX,
  });
  await opened(socket, limit);
  return createConnection(socket as unknown as MessageSocket);
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

function opened(socket: OpeningSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown) => {
      reject(new DialError(message, { cause }));
      socket.terminate();
    };
    const onLate = () => fail("The hub does not answer");
    signal.addEventListener("abort", onLate, { once: true });
    socket.on("open", () => {
      // The limit is for the handshake: an open link lasts.
      signal.removeEventListener("abort", onLate);
      resolve();
    });
    // Stays: what happens later ends the connection.
    socket.on("error", (error) => fail(`The hub cannot be reached: ${error.message}`, error));
    socket.on("unexpected-response", (_, { statusCode = 0 }) => fail(describeStatus(statusCode)));
  });
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) {
    return "The hub's address redirects: invite with the final one";
  }
  if (status === 503) return "The hub is busy";
  if (status === 404) return "The hub's address has no fleet";
  return `The hub answered ${status}`;
}

/** Without TLS, the address that was checked is the one that is used. */
async function connectPlain(
  { config }: DialDeps,
  url: URL,
  signal: AbortSignal,
): Promise<Socket> {
  if (config.fleetInsecure !== "on") {
    throw new AppError(
      "invalid",
      "The hub's address must begin with https://; on a private network, FLEET_INSECURE=on allows http://",
    );
  }
  // Entries of OUTBOUND_ALLOW are for calls of users.
  const deps = { config: { ...config, outboundAllow: [] } };
  const host = await resolveOutbound(deps, url.hostname, "private", signal).catch((cause) => {
    if (!(cause instanceof OutboundError)) throw cause;
    if (cause.code !== "blocked") throw new DialError(cause.message, { cause });
    const message = `${url.hostname} is not on a private network, which http:// requires`;
    throw new AppError("invalid", message, { cause });
  });
  return nodeNet().connect({ host: host[0]!, port: Number(url.port) || 80 });
}

async function connectTls({ config }: DialDeps, url: URL, signal: AbortSignal): Promise<Socket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port) || 443;
  const servername = nodeNet().isIP(host) ? {} : { servername: host };
  const options = { ...servername, rejectUnauthorized: false };
  const proxy = proxyFor(config, url);
  if (!proxy) return nodeTls().connect({ ...options, host, port });
  const target = `${url.hostname}:${port}`;
  const socket = await connectThrough(proxy, target, signal).catch((cause) => {
    throw cause instanceof OutboundError ? new DialError(cause.message, { cause }) : cause;
  });
  return nodeTls().connect({ ...options, socket });
}
