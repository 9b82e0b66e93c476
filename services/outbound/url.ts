/**
 * Checks of the URLs and hosts that users give: which of them the service may connect to, and at
 * which addresses.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import { nodeDns } from "../builtins.ts";
import { abortable } from "../deadline.ts";
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
import { OutboundError } from "./error.ts";
import { trimEnd } from "../text/trim_end.ts";

export type { OutboundReach };

/** Returns all IPv4 and IPv6 addresses of a name; throws if there are none. */
type ResolveHost = (host: string) => Promise<string[]>;

/** `resolve` is the system's resolver by default. */
export type OutboundDeps = Pick<Deps, "config"> & { resolve?: ResolveHost };

/** Longest address, in characters. */
export const OUTBOUND_URL_MAX = 2_048;

/** Time limit for the DNS lookup of a check, in milliseconds. */
const RESOLVE_CHECK_MS = 5_000;

/**
 * Checks a URL that a user gave, before it is stored. A name that does not resolve (yet) is
 * accepted, because each connection is checked again.
 *
 * @param field The name of the field in the error message, e.g. `body.url`.
 * @throws {AppError} `invalid` if it is not a plain http or https URL, or if the service may not
 * connect to the host.
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
 * Checks a host, e.g. of a TCP monitor, like {@linkcode assertOutboundUrl}.
 *
 * @throws {AppError} `invalid` if the service may not connect to the host.
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
 * Parses a URL strictly. The standard parser accepts tabs, backslashes, missing slashes and
 * credentials, which attackers use to make two parsers see two hosts.
 *
 * @returns The URL, or what is wrong with it.
 */
export function parseOutboundUrl(text: string): URL | string {
  if (text.length > OUTBOUND_URL_MAX) return `is longer than ${OUTBOUND_URL_MAX} characters`;
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x20\x7f\\]/.test(text)) return "contains a space, a control character or a backslash";
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  const url = URL.parse(text);
  if (authority === undefined || !url) return "is not an http:// or https:// URL";
  if (authority.includes("@")) return "contains a user name or password, which is not allowed";
  if (url.port === "0") return "has port 0, which is not valid";
  return url;
}

/**
 * Appends a path to a base URL, which may have its own path, e.g. that of a gateway.
 *
 * @param search Default: that of the base URL.
 */
export function joinUrl(base: string, path: string, search?: string): string {
  const url = new URL(base);
  url.pathname = trimEnd(url.pathname, "/") + path;
  if (search !== undefined) url.search = search;
  url.hash = "";
  return url.href;
}

/**
 * Returns the addresses of a host, all of which the service may connect to. The caller connects to
 * one of them without another lookup, so that a name that then resolves to something else (DNS
 * rebinding) has no effect.
 *
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
    if (isRefusedAddress(name, reach, allow)) throw blocked(name, "is");
    return [literal];
  }
  // Resolvers take a name that ends in a number for IPv4 in another notation. URLs are normalized.
  if (/(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)) throw blocked(name, "is");
  if (allow.hosts.has(name)) return normalize(await lookUp(resolve, name, signal), name);

  if (isRefusedName(name, reach)) return await resolveListed(resolve, name, allow, signal);
  const addresses = await lookUp(resolve, name, signal);
  if (addresses.some((address) => isRefusedAddress(address, reach, allow))) {
    throw blocked(name, "resolves to");
  }
  return normalize(addresses, name);
}

/** Resolves a refused name such as `localhost`: allowed if the operator listed all its addresses. */
async function resolveListed(
  resolve: ResolveHost,
  name: string,
  allow: OutboundAllow,
  signal: AbortSignal,
): Promise<string[]> {
  if (allow.networks.length === 0) throw blocked(name, "is");
  const addresses = await lookUp(resolve, name, signal).catch(() => []);
  const areListed = addresses.every((address) => isListedAddress(address, allow));
  if (addresses.length === 0 || !areListed) throw blocked(name, "is");
  return normalize(addresses, name);
}

async function lookUp(resolve: ResolveHost, name: string, signal: AbortSignal): Promise<string[]> {
  try {
    return await abortable(resolve(name), signal);
  } catch (cause) {
    if (signal.aborted) throw new OutboundError("timeout", `DNS lookup for ${name} timed out`);
    throw unresolvable(name, cause);
  }
}

/** Removes duplicates. Text that is not an address stays and is refused. */
function normalize(addresses: readonly string[], name: string): string[] {
  if (addresses.length === 0) throw unresolvable(name);
  return [...new Set(addresses.map((address) => parseAddress(address) ?? address))];
}

/** Uses the system's resolver, with the hosts file and the system's order of addresses. */
async function systemResolve(host: string): Promise<string[]> {
  const found = await nodeDns().promises.lookup(host, { all: true });
  return found.map(({ address }) => address);
}

const unresolvable = (name: string, cause?: unknown) =>
  new OutboundError("unresolvable", `${name} has no address`, { cause });

const blocked = (name: string, verb: "is" | "resolves to") =>
  new OutboundError(
    "blocked",
    `${name} ${verb} an address that this service may not reach; ` +
      "an operator can list it in OUTBOUND_ALLOW",
  );
