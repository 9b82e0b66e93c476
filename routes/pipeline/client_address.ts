/** The client's address behind trusted proxies. @module */

import { AppError } from "../../services/errors.ts";
import {
  type Address,
  configuredNetwork,
  includesAddress,
  parseAddress,
} from "../../services/ip_address.ts";

/** Limit of hops in a header. Real chains are shorter. */
const HOPS_MAX = 32;

/**
 * Creates the function that finds the client's address: the rightmost hop that is not a trusted
 * proxy. Hops further left come from the client and can be forged.
 *
 * @param trusted Addresses and CIDRs, validated by the configuration.
 */
export function clientAddress(trusted: readonly string[]) {
  const isTrusted = memberOf(trusted);

  /** @throws {AppError} `invalid` when a trusted proxy sends a malformed address. */
  return function addressOf(peer: string, headers: Headers): string {
    if (trusted.length === 0) return normalized(peer);
    let address = parseAddress(peer);
    if (!address || !isTrusted(address)) return normalized(peer);

    const header = headers.has("x-forwarded-for") ? "X-Forwarded-For" : "X-Real-IP";
    const hops = headers.get(header) ?? "";
    if (hops === "") return address.toString();
    const list = hops.split(",");
    if (list.length > HOPS_MAX) throw malformed(header, `more than ${HOPS_MAX} addresses`);
    for (const text of list.reverse()) {
      const hop = parseAddress(withoutBrackets(text.trim()));
      if (!hop) throw malformed(header, JSON.stringify(text.trim().slice(0, 64)));
      address = hop;
      if (!isTrusted(hop)) break;
    }
    return address.toString();
  };
}

/** Creates the function that checks whether the other end of a connection is a trusted proxy. */
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

const malformed = (header: string, what: string) =>
  new AppError("invalid", `${header} is malformed: ${what}`);

/** Proxies write IPv6 with brackets or without. */
const withoutBrackets = (text: string) =>
  text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;

/** The address of a peer. A dual-stack socket reports IPv4 clients by their mapped address. */
export function normalized(peer: string): string {
  return peer.startsWith("::ffff:") ? parseAddress(peer)?.toString() ?? peer : peer;
}
