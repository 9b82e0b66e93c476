/**
 * The caller's address, behind proxies that the operator trusts and only behind those.
 *
 * @module
 */

import { AppError } from "../services/errors.ts";
import {
  type Address,
  configuredNetwork,
  includesAddress,
  parseAddress,
} from "../services/auth/ip_address.ts";

/** More hops than any real chain has; a longer header is an attempt to keep us busy. */
const HOPS_MAX = 32;

/**
 * Makes the function that finds the client's address: the last hop that is no trusted proxy, read
 * from the right, for everything further left was written by whoever sent it.
 *
 * @param trusted Addresses and CIDRs, already checked by the configuration.
 */
export function clientAddress(trusted: readonly string[]) {
  const isTrusted = memberOf(trusted);

  /** @throws {AppError} `invalid` when a trusted proxy sends an unreadable address. */
  return function addressOf(peer: string, headers: Headers): string {
    if (trusted.length === 0) return normalized(peer);
    let address = parseAddress(peer);
    if (!address || !isTrusted(address)) return normalized(peer);

    const header = headers.has("x-forwarded-for") ? "X-Forwarded-For" : "X-Real-IP";
    const hops = headers.get(header) ?? "";
    if (hops === "") return address.toString();
    const list = hops.split(",");
    if (list.length > HOPS_MAX) throw unreadable(header, `more than ${HOPS_MAX} addresses`);
    for (const text of list.reverse()) {
      const hop = parseAddress(withoutBrackets(text.trim()));
      if (!hop) throw unreadable(header, JSON.stringify(text.trim().slice(0, 64)));
      address = hop;
      if (!isTrusted(hop)) break;
    }
    return address.toString();
  };
}

/** Makes what tells whether the other end of a connection is a proxy that the operator trusts. */
export function trustedPeer(trusted: readonly string[]): (peer: string) => boolean {
  const isTrusted = memberOf(trusted);
  return (peer) => {
    const address = parseAddress(peer);
    return address !== undefined && isTrusted(address);
  };
}

function memberOf(trusted: readonly string[]): (address: Address) => boolean {
  const networks = trusted.map(configuredNetwork).filter((network) => network !== undefined);
  return (address) => networks.some((network) => includesAddress(network, address));
}

const unreadable = (header: string, what: string) =>
  new AppError("invalid", `${header} is not readable: ${what}`);

/** Proxies write IPv6 with brackets or without. */
const withoutBrackets = (text: string) =>
  text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;

/** The runtime names a client of a dual-stack socket by its mapped IPv4 address. */
function normalized(peer: string): string {
  return peer.startsWith("::ffff:") ? parseAddress(peer)?.toString() ?? peer : peer;
}
