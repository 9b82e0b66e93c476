/**
 * Addresses of networks and hosts. The engine refuses invalid ones when a container is created.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import { byKind, entriesOf, list, oneOrList } from "./collections.ts";
import { failAt, type Reader } from "./reader.ts";
import { format, name, parsed } from "./scalars.ts";

/** Characters of the longest address with a prefix; longer texts are not parsed. */
const ADDRESS_MAX = 64;

const addressOf = (isValid: (text: string) => boolean, what: string): Reader<string> =>
  parsed((text) => {
    if (text.length <= ADDRESS_MAX && isValid(text)) return text;
    throw new Error(`must be ${what}`);
  }, name);

const isIpv4 = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text);
const isIpv6 = (text: string) => ipaddr.IPv6.isValid(text);
const isIp = (text: string) => isIpv4(text) || isIpv6(text);

export const ip = addressOf(isIp, "an IP address");
export const ipv4 = addressOf(isIpv4, "an IPv4 address such as 192.0.2.10");
export const ipv6 = addressOf(isIpv6, "an IPv6 address such as 2001:db8::10");
export const cidr = addressOf(
  (text) => ipaddr.isValidCIDR(text),
  "a range of addresses such as 192.0.2.0/24",
);

export const macAddress = format(
  /^(?:[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2})$/,
  "must be a MAC address such as 02:42:ac:11:00:02",
);

/** Stands for the address of the host. */
const HOST_GATEWAY = "host-gateway";

/** `host=address` or `host:address`, with several addresses after commas. */
const hostEntry: Reader<string[]> = parsed((entry) => {
  const at = entry.includes("=") ? entry.indexOf("=") : entry.indexOf(":");
  const host = entry.slice(0, Math.max(at, 0));
  if (host === "" || /[:\s]/.test(host)) throw new Error("must have the form HOST:ADDRESS");
  return entry.slice(at + 1).split(",").map((address) => `${host}=${addressIn(address)}`);
});

const hostAddress: Reader<string> = parsed((address) => addressIn(address), name);

/** Returns an address without its brackets. @throws {Error} */
function addressIn(text: string): string {
  const address = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (address === HOST_GATEWAY || (address.length <= ADDRESS_MAX && isIp(address))) return address;
  throw new Error(`must have an IP address or ${HOST_GATEWAY} behind the name of the host`);
}

/** Further entries of `/etc/hosts`, as `host=address`. */
export const extraHosts: Reader<string[]> = byKind({
  list: (node, path, scope) => [...new Set(list(hostEntry)(node, path, scope)?.flat())],
  map: (node, path, scope) =>
    entriesOf(node, path, scope).flatMap(([host, value, inner]) => {
      if (/[=:\s]/.test(host)) {
        return failAt(value, inner, scope, "must have a name without colons and spaces") ?? [];
      }
      const addresses = oneOrList(hostAddress)(value, inner, scope) ?? [];
      return addresses.map((address) => `${host}=${address}`);
    }),
});
