/**
 * Reading IP addresses and networks. Only notations that every program reads in the same way are
 * accepted, because a misread one would admit the wrong clients.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** An address from {@linkcode parseAddress}: never mapped IPv4 (`::ffff:10.0.0.1`). */
export type Address = IpAddress & { readonly [checked]: true };
declare const checked: unique symbol;

export interface Network {
  /** An address or `address/prefix`, in its shortest form. */
  text: string;
  base: Address;
  /** Length of the prefix in bits: 32 or 128 for a single address. */
  prefix: number;
}

/** Why a text is not a network, as the end of a sentence. */
interface Refusal {
  refused: string;
}

/** Maximum length of a network as text, in characters. */
export const CIDR_MAX = 49;

/** Limit of an address as text, in characters: IPv6 with an IPv4 part, and the name of an interface. */
const ADDRESS_MAX = 64;

const EXAMPLES = "10.0.0.0/8, 2001:db8::/32 or 203.0.113.7";

/** Bits before the IPv4 address in mapped IPv4, which its prefix includes (RFC 4291, 2.5.5.2). */
const MAPPED_PREFIX = 96;

/**
 * Reads an address. Mapped IPv4 becomes IPv4. A zone (`fe80::1%eth0`) is left out: it only says
 * through which interface of this host the address is reached.
 *
 * @returns `undefined` for a text that is not an address.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > ADDRESS_MAX) return undefined;
  return read(text.replace(/%[\w.-]+$/, ""))?.address;
}

/** Reads a network (`address/prefix`) or a single address. */
export function parseNetwork(text: string): Network | Refusal {
  const [written = "", bits, ...rest] = text.split("/");
  if (text.includes("%")) return { refused: "must have no zone such as %eth0" };
  const found = read(written);
  if (!found && isLikeIpv4(written)) {
    return { refused: "must have four decimal numbers from 0 to 255 without leading zeros" };
  }
  if (!found || rest.length > 0) return { refused: `must be a network such as ${EXAMPLES}` };

  const { address, mapped } = found;
  const width = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return { text: address.toString(), base: address, prefix: width };

  const least = mapped ? MAPPED_PREFIX : 0;
  const prefix = Number(bits) - least;
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || prefix < 0 || prefix > width) {
    return { refused: `must have a prefix from ${least} to ${least + width}` };
  }
  const kind = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = kind.networkAddressFromCIDR(`${address}/${prefix}`);
  if (network.toString() !== address.toString()) {
    return {
      refused: `has bits after its prefix: write ${network}/${prefix} for the network, or ` +
        `${address} for the one address`,
    };
  }
  return { text: `${address}/${prefix}`, base: address, prefix };
}

/**
 * Reads a network of the configuration, where bits after the prefix are ignored.
 *
 * @returns `undefined` for a text that is neither a network nor an address.
 */
export function configuredNetwork(text: string): Network | undefined {
  const [written = "", bits, ...rest] = text.split("/");
  const found = read(written);
  if (!found || rest.length > 0) return undefined;
  const { address, mapped } = found;
  const width = address.kind() === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? width : Number(bits) - (mapped ? MAPPED_PREFIX : 0);
  const isPrefix = bits === undefined || /^\d{1,3}$/.test(bits);
  return isPrefix && prefix >= 0 && prefix <= width ? { text, base: address, prefix } : undefined;
}

/** Whether an address is in a network. IPv4 addresses are in no IPv6 network, not even in `::/0`. */
export function includesAddress({ base, prefix }: Network, address: Address): boolean {
  return base.kind() === address.kind() &&
    (address as ipaddr.IPv4).match(base as unknown as ipaddr.IPv4, prefix);
}

function read(text: string): { address: Address; mapped: boolean } | undefined {
  if (text.length > ADDRESS_MAX) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return { address: ipaddr.IPv4.parse(text) as IpAddress as Address, mapped: false };
  }
  const hexadecimal = withoutDots(text);
  if (hexadecimal === undefined || !ipaddr.IPv6.isValid(hexadecimal)) return undefined;
  const address = ipaddr.IPv6.parse(hexadecimal);
  const mapped = address.isIPv4MappedAddress();
  return {
    address: (mapped ? address.toIPv4Address() : address) as IpAddress as Address,
    mapped,
  };
}

/**
 * Converts a trailing IPv4 part of an IPv6 address to hexadecimal. The library misreads two kinds:
 * it allows leading zeros (`::ffff:010.0.0.1`), and takes `::10.0.0.1` for mapped IPv4.
 *
 * @returns `undefined` for a text that cannot be IPv6.
 */
function withoutDots(text: string): string | undefined {
  const tail = text.slice(text.lastIndexOf(":") + 1);
  let hexadecimal = text;
  if (tail.includes(".")) {
    if (!ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined;
    const [a, b, c, d] = ipaddr.IPv4.parse(tail).octets as [number, number, number, number];
    const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16));
    hexadecimal = text.slice(0, -tail.length) + groups.join(":");
  }
  return /^(?=.*:)[\da-f]{0,4}(:[\da-f]{0,4})+$/i.test(hexadecimal) ? hexadecimal : undefined;
}

/** Whether a text looks like IPv4: perhaps octal, hexadecimal or shortened. */
const isLikeIpv4 = (text: string) => /^[\da-fx]+(\.[\da-fx]+){0,5}\.?$/i.test(text);
