/**
 * The caller's address, behind proxies that the operator trusts and only behind those.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import { AppError } from "../services/errors.ts";

type Address = ReturnType<typeof ipaddr.process>;
type Network = [Address, number];

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
      const hop = parseAddress(text.trim());
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
  const networks = trusted.map(parseNetwork);
  return (address) =>
    networks.some(([network, bits]) =>
      network.kind() === address.kind() &&
      (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
    );
}

const unreadable = (header: string, what: string) =>
  new AppError("invalid", `${header} is not readable: ${what}`);

function parseNetwork(text: string): Network {
  if (!text.includes("/")) {
    const address = ipaddr.process(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  }
  return ipaddr.parseCIDR(text) as Network;
}

/** Mapped IPv4 (`::ffff:1.2.3.4`) becomes IPv4. */
function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const valid = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return valid ? ipaddr.process(bare) : undefined;
}

function normalized(peer: string): string {
  return peer.startsWith("::ffff:") ? parseAddress(peer)?.toString() ?? peer : peer;
}
