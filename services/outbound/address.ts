/** Rules for the addresses that the service connects to on behalf of a user. @module */

import type ipaddr from "ipaddr.js";
import {
  type Address,
  configuredNetwork,
  includesAddress,
  type Network,
  parseAddress as readAddress,
} from "../ip_address.ts";
import { trimEnd } from "../text/trim_end.ts";

/** Reach of a connection on behalf of a user. */
export type OutboundReach =
  | "public" // the internet (webhooks, chat, push)
  | "internal" // private networks as well (integrations, monitors)
  | "loopback" // private networks and this host as well (registries of images)
  | "private" // private networks and this host only (an engine without TLS)
  | "intranet"; // private networks only (a Git server without TLS)

/** Networks and hosts that the operator allows in OUTBOUND_ALLOW. */
export interface OutboundAllow {
  hosts: ReadonlySet<string>;
  networks: readonly Network[];
}

/** Refused unless allowed: IANA's special-purpose registry for IPv4, and cloud metadata. */
const REFUSED_IPV4 = networks(
  "0.0.0.0/8", // this network; 0.0.0.0 is the host itself
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, where clouds serve metadata and credentials
  "192.0.0.0/24", // IETF protocol assignments; 192.0.0.192 is Oracle's metadata
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, with 255.255.255.255
  "100.100.100.200/32", // Alibaba's metadata
  "168.63.129.16/32", // Azure's agent on every virtual machine
);

const PRIVATE_IPV4 = networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");

/** Carrier-grade NAT, also used by overlay networks: shared with others. */
const SHARED_IPV4 = networks("100.64.0.0/10");

/** Assigned for global use (RFC 4291); everything else is refused. */
const GLOBAL_IPV6 = networks("2000::/3");

const REFUSED_IPV6 = networks(
  "2001::/23", // IETF protocol assignments: Teredo, benchmarking, ORCHID, AMT
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, embeds IPv4
  "3fff::/20", // documentation (RFC 9637)
  "fd00:ec2::/32", // AWS: metadata, DNS, time
  "fd20:ce::254/128", // Google's metadata
);

const PRIVATE_IPV6 = networks("fc00::/7");

const LOOPBACK = networks("127.0.0.0/8", "::1/128");

const NEAR = [...LOOPBACK, ...networks("169.254.0.0/16", "fe80::/10")];

/** Names of this host. */
const LOOPBACK_NAMES = new Set([
  "localhost",
  "localhost.localdomain",
  "localhost4",
  "localhost6",
  "ip6-localhost",
  "ip6-loopback",
]);

const LOOPBACK_SUFFIXES = [".localhost", ".localhost.localdomain"];

const METADATA_NAMES = new Set([
  "metadata",
  "metadata.internal",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.azure.com",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
  "metadata.packet.net",
  "instance-data",
  "instance-data.ec2.internal",
  "rancher-metadata",
]);

const METADATA_SUFFIX = ".metadata.google.internal";

/** @param entries Addresses, CIDRs and host names, validated by the configuration. */
export function parseOutboundAllow(entries: readonly string[]): OutboundAllow {
  const hosts = new Set<string>();
  const networks: Network[] = [];
  for (const entry of entries) {
    const network = configuredNetwork(entry);
    if (network) networks.push(network);
    else hosts.add(comparableHost(entry));
  }
  return { hosts, networks };
}

/** Normalizes a host for comparison: lower case, without brackets and trailing dot. */
export function comparableHost(host: string): string {
  return trimEnd(host.toLowerCase().replace(/^\[(.*)\]$/, "$1"), ".");
}

/** Whether a name is refused whatever it resolves to. */
export function isRefusedName(host: string, reach: OutboundReach): boolean {
  const name = comparableHost(host);
  return name === "" || METADATA_NAMES.has(name) || name.endsWith(METADATA_SUFFIX) ||
    (!includesLoopback(reach) && isLoopbackName(name));
}

const includesLoopback = (reach: OutboundReach) => reach === "loopback" || reach === "private";

/** Whether a host is an address, and one that is refused. A name is checked when it is resolved. */
export function isRefusedLiteral(host: string, reach: OutboundReach): boolean {
  const name = comparableHost(host);
  return parsed(name) !== undefined && isRefusedAddress(name, reach, parseOutboundAllow([]));
}

/** Whether a host is a name or an address of this host. */
export function isLoopbackHost(host: string): boolean {
  const name = comparableHost(host);
  const address = parsed(name);
  return address ? isIn(address, LOOPBACK) : isLoopbackName(name);
}

/** Whether an address is of this host or its link, which a proxy elsewhere cannot reach. */
export function isNearAddress(text: string): boolean {
  const address = parsed(text);
  return address !== undefined && isIn(address, NEAR);
}

const isLoopbackName = (name: string) =>
  LOOPBACK_NAMES.has(name) || LOOPBACK_SUFFIXES.some((suffix) => name.endsWith(suffix));

/** Returns an address in its shortest form, mapped IPv4 as IPv4; `undefined` if it is not one. */
export function parseAddress(text: string): string | undefined {
  return parsed(text)?.toString();
}

/** Whether the operator allowed the address. */
export function isListedAddress(text: string, { networks }: OutboundAllow): boolean {
  const address = parsed(text);
  return address !== undefined && isIn(address, networks);
}

/** Whether the service must not connect to an address. Text that is not an address is refused. */
export function isRefusedAddress(
  text: string,
  reach: OutboundReach,
  allow: OutboundAllow,
): boolean {
  const address = parsed(text);
  if (!address) return true;
  if (isIn(address, allow.networks)) return false;
  const isOnlyPrivate = reach === "private" || reach === "intranet";
  if (isOnlyPrivate && !isPrivate(text, address)) return true;
  if (includesLoopback(reach) && isIn(address, LOOPBACK)) return false;
  return address.kind() === "ipv4" ? isRefusedIpv4(address, reach) : isRefusedIpv6(address, reach);
}

/** Mapped IPv4 (`::ffff:10.0.0.1`) does not count: programs on the way read it in different ways. */
function isPrivate(text: string, address: Address): boolean {
  const isMapped = text.includes(":") && address.kind() === "ipv4";
  return !isMapped && isIn(address, [...LOOPBACK, ...PRIVATE_IPV4, ...PRIVATE_IPV6]);
}

function isRefusedIpv4(address: Address, reach: OutboundReach): boolean {
  if (isIn(address, REFUSED_IPV4)) return true;
  return reach === "public" && isIn(address, [...PRIVATE_IPV4, ...SHARED_IPV4]);
}

function isRefusedIpv6(address: Address, reach: OutboundReach): boolean {
  if (isIn(address, REFUSED_IPV6)) return true;
  const isPrivate = isIn(address, PRIVATE_IPV6);
  if (isPrivate ? reach === "public" : !isIn(address, GLOBAL_IPV6)) return true;

  // ISATAP (RFC 5214, 6.1) embeds IPv4 in the interface identifier of any prefix.
  const [group4, group5, group6, group7] = (address as ipaddr.IPv6).parts.slice(4) as [
    number,
    number,
    number,
    number,
  ];
  if (group5 !== 0x5efe || (group4 !== 0 && group4 !== 0x200)) return false;
  const bytes = [group6 >> 8, group6 & 255, group7 >> 8, group7 & 255];
  return isRefusedIpv4(readAddress(bytes.join("."))!, reach);
}

/** Other notations of IPv4 (octal, hexadecimal, short) do not occur: URLs are normalized. */
function parsed(text: string): Address | undefined {
  return text.includes("%") ? undefined : readAddress(text);
}

function networks(...texts: string[]): Network[] {
  return texts.map((text) => configuredNetwork(text)!);
}

function isIn(address: Address, networks: readonly Network[]): boolean {
  return networks.some((network) => includesAddress(network, address));
}
