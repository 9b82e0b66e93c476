/**
 * The HTTP proxy on the way to other hosts: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. This service
 * speaks TLS through it by itself, so that the proxy neither reads nor changes anything.
 *
 * @module
 */

import type { Socket } from "node:net";
import { nodeHttp } from "../builtins.ts";
import type { Config } from "../config/config.ts";
import { configuredNetwork, includesAddress, parseAddress } from "../ip_address.ts";
import { comparableHost, isLoopbackHost, isNearAddress, type OutboundReach } from "./address.ts";
import { OutboundError, type OutboundErrorCode } from "./error.ts";
import { type OutboundDeps, resolveOutbound } from "./url.ts";
import { withoutCredentials } from "./url_credentials.ts";

/** A proxy for one kind of address. */
export interface Proxy {
  /** Subject of messages. */
  name: string;
  /** For the client of the runtime. */
  at: { host: string; port: number };
  /** Headers for the proxy itself. */
  headers: Record<string, string>;
}

type ProxyConfig = Pick<Config, "httpsProxy" | "httpProxy" | "noProxy">;

/** Longest DNS lookup in a network whose names only the proxy knows, in milliseconds. */
const RESOLVE_MS = 2_000;

/** @returns `undefined` for an address that is reached directly, such as a name of this host. */
export function proxyFor(
  { httpsProxy, httpProxy, noProxy }: ProxyConfig,
  url: URL,
): Proxy | undefined {
  const isTls = url.protocol === "https:";
  const configured = isTls ? httpsProxy : httpProxy;
  if (configured === null || isLoopbackHost(url.hostname)) return undefined;
  const port = url.port || (isTls ? "443" : "80");
  if (noProxy.some((entry) => isListed(entry, comparableHost(url.hostname), port))) {
    return undefined;
  }
  const { target, authorization } = withoutCredentials(configured);
  return {
    name: `The proxy in ${isTls ? "HTTPS_PROXY" : "HTTP_PROXY"}`,
    at: { host: comparableHost(target.hostname), port: Number(target.port) || 80 },
    headers: authorization === undefined ? {} : { "proxy-authorization": authorization },
  };
}

/** Whether an entry of `NO_PROXY` is a host, its domain, its network, or everything. */
function isListed(entry: string, host: string, port: string): boolean {
  const address = parseAddress(host);
  const network = configuredNetwork(entry);
  if (network) return address !== undefined && includesAddress(network, address);
  const [, name = "", ofPort = port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase())!;
  if (ofPort !== port) return false;
  const domain = name.replace(/^\*?\./, "").replace(/^\[(.*)\]$/, "$1");
  return domain === "*" || host === domain || host.endsWith(`.${domain}`);
}

/**
 * Checks a host that a proxy connects to. The proxy resolves the name itself, so that one without an
 * address here is left to it, unless the address decides whether credentials may be sent in clear. A
 * lookup that takes too long says nothing about a name that must be public.
 *
 * @returns Addresses of a host that has to be reached directly, because one of them is of this host.
 * @throws {OutboundError} As `resolveOutbound()`.
 */
export async function checkProxied(
  deps: OutboundDeps,
  host: string,
  reach: OutboundReach,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(RESOLVE_MS)]);
  try {
    const addresses = await resolveOutbound(deps, host, reach, limit);
    return addresses.some(isNearAddress) ? addresses : undefined;
  } catch (error) {
    signal.throwIfAborted();
    const isLeftToProxy = error instanceof OutboundError &&
      LEFT_TO_PROXY[reach].includes(error.code);
    if (!isLeftToProxy) throw error;
    return undefined;
  }
}

/** Failures of a lookup here after which the proxy's own lookup decides. */
const LEFT_TO_PROXY: Readonly<Record<OutboundReach, readonly OutboundErrorCode[]>> = {
  public: ["unresolvable"],
  internal: ["unresolvable", "timeout"],
  loopback: ["unresolvable", "timeout"],
  private: [],
  intranet: [],
};

/**
 * Opens a tunnel (RFC 9110, section 9.3.6).
 *
 * @param target Host and port, IPv6 in brackets.
 * @throws {OutboundError}
 */
export function connectThrough(
  { name, at, headers }: Proxy,
  target: string,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown) =>
      reject(new OutboundError("network", `${name} ${problem}`, { cause }));
    const request = nodeHttp().request({
      ...at,
      method: "CONNECT",
      path: target,
      headers: { host: target, ...headers },
      agent: false,
      signal,
    });
    request.on("error", (error) => fail("cannot be reached", error));
    request.on("response", ({ statusCode }) => {
      request.destroy();
      fail(`answered ${statusCode}`);
    });
    request.on("connect", ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      fail(`answered ${statusCode}`);
    });
    request.end();
  });
}
