/**
 * The guard of every address that a user gives: what the service may be made to call, and the
 * very addresses that it then connects to.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import {
  comparableHost,
  isListedAddress,
  isRefusedAddress,
  isRefusedName,
  type OutboundAllow,
  type OutboundReach,
  parseAddress,
  parseOutboundAllow,
} from "./address.ts";

export type { OutboundReach };

/** Gives every IPv4 and IPv6 address of a name; throws where there is none. */
export type ResolveHost = (host: string) => Promise<string[]>;

/** What the guard needs; `resolve` is the system's resolver unless given. */
export type OutboundDeps = Pick<Deps, "config"> & { resolve?: ResolveHost };

/**
 * Why there was no answer:
 * - `blocked`: the host or one of its addresses is refused
 * - `unresolvable`: the name has no address
 * - `timeout`: not in time
 * - `too_large`: more bytes than allowed
 * - `tls`: the certificate is not valid for the name, or there is no TLS
 * - `network`: refused, reset, or no HTTP
 * - `redirect`: too many, or to something that is no address
 */
export type OutboundErrorCode =
  | "blocked"
  | "unresolvable"
  | "timeout"
  | "too_large"
  | "tls"
  | "network"
  | "redirect";

/** A call that came to nothing. The message is a sentence for the user, without foreign text. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";

  constructor(readonly code: OutboundErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Longest address, in characters. */
export const OUTBOUND_URL_MAX = 2_048;

/** How long a check waits for the resolver, in milliseconds; later counts as unresolvable. */
const RESOLVE_CHECK_MS = 5_000;

/**
 * Checks an address that a user gave, before it is stored. A name that does not resolve (yet) is
 * accepted, for each connection is checked anew.
 *
 * @param field How the failure names it, e.g. `body.url`.
 * @throws {AppError} `invalid` for what is no plain http or https URL, and for a host that may not
 * be reached.
 */
export async function assertOutboundUrl(
  deps: OutboundDeps,
  url: string,
  reach: OutboundReach,
  field = "url",
): Promise<URL> {
  const parsed = parseOutboundUrl(url);
  if (typeof parsed === "string") throw new AppError("invalid", `${field}: ${parsed}`);
  await assertOutboundHost(deps, parsed.hostname, reach, field);
  return parsed;
}

/**
 * The same for a host alone, e.g. of a TCP monitor.
 *
 * @throws {AppError} `invalid` for a host that may not be reached.
 */
export async function assertOutboundHost(
  deps: OutboundDeps,
  host: string,
  reach: OutboundReach,
  field = "host",
): Promise<void> {
  try {
    await resolveOutbound(deps, host, reach, AbortSignal.timeout(RESOLVE_CHECK_MS));
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.code !== "blocked") return;
    throw new AppError("invalid", `${field}: ${error.message}`, { cause: error });
  }
}

/**
 * Reads an address strictly. The standard's parser forgives much (tabs, backslashes, missing
 * slashes, credentials) that is only ever used to have two readers see two hosts.
 *
 * @returns What is wrong with it, if anything.
 */
export function parseOutboundUrl(text: string): URL | string {
  if (text.length > OUTBOUND_URL_MAX) return `longer than ${OUTBOUND_URL_MAX} characters`;
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x20\x7f\\]/.test(text)) return "has a space, a control character or a backslash";
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  const url = URL.parse(text);
  if (authority === undefined || !url) return "not an http:// or https:// URL";
  if (authority.includes("@")) return "has a user name or password in it, which is not allowed";
  if (url.port === "0") return "has the port 0, where nothing can listen";
  return url;
}

/**
 * The addresses of a host, all of which may be connected to. Whoever connects takes one of them,
 * so that a name that resolves to something else a moment later gains nothing.
 *
 * @param signal Ends the wait for the resolver.
 * @throws {OutboundError} `blocked` when the host or any of its addresses is refused;
 * `unresolvable`; `timeout`.
 */
export async function resolveOutbound(
  { config, resolve = systemResolve }: OutboundDeps,
  host: string,
  reach: OutboundReach,
  signal: AbortSignal,
): Promise<string[]> {
  const allow = parseOutboundAllow(config.outboundAllow);
  const name = comparableHost(host);
  const literal = parseAddress(name);
  if (literal !== undefined) {
    if (isRefusedAddress(literal, reach, allow)) throw blocked(name, "is");
    return [literal];
  }
  // Resolvers read what ends in a number as IPv4 in some other notation; URLs have undone those.
  if (/(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)) throw blocked(name, "is");
  if (allow.hosts.has(name)) return normalized(await resolved(resolve, name, signal), name);

  if (isRefusedName(name)) return await listedAddresses(resolve, name, allow, signal);
  const addresses = normalized(await resolved(resolve, name, signal), name);
  if (addresses.some((address) => isRefusedAddress(address, reach, allow))) {
    throw blocked(name, "resolves to");
  }
  return addresses;
}

/** Of a name that is refused for what it means: only where the operator listed what it means. */
async function listedAddresses(
  resolve: ResolveHost,
  name: string,
  allow: OutboundAllow,
  signal: AbortSignal,
): Promise<string[]> {
  if (allow.networks.length === 0) throw blocked(name, "is");
  const addresses = await resolved(resolve, name, signal).catch(() => []);
  const areListed = addresses.every((address) => isListedAddress(address, allow));
  if (addresses.length === 0 || !areListed) throw blocked(name, "is");
  return normalized(addresses, name);
}

async function resolved(resolve: ResolveHost, name: string, signal: AbortSignal) {
  const aborted = Promise.withResolvers<never>();
  const abort = () =>
    aborted.reject(new OutboundError("timeout", `No answer in time on the address of ${name}`));
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([resolve(name), aborted.promise]);
  } catch (cause) {
    if (cause instanceof OutboundError) throw cause;
    throw unresolvable(name, cause);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** What the resolver gave, each address once; what is no address stays, and is refused. */
function normalized(addresses: readonly string[], name: string): string[] {
  if (addresses.length === 0) throw unresolvable(name);
  return [...new Set(addresses.map((address) => parseAddress(address) ?? address))];
}

/** As the system connects: the hosts file counts, and the system's order of addresses. */
async function systemResolve(host: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const unresolvable = (name: string, cause?: unknown) =>
  new OutboundError("unresolvable", `${name} has no address`, { cause });

const blocked = (name: string, verb: "is" | "resolves to") =>
  new OutboundError(
    "blocked",
    `${name} ${verb} an address that this service may not reach; ` +
      "an operator can list it in OUTBOUND_ALLOW",
  );
