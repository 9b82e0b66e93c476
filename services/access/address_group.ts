/** Groups of addresses that count as one client, and networks of such groups. @module */

/** Returns the address itself, or the /64 of an IPv6 address: a client usually has all of it. */
export function addressGroup(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const after = tail === "" ? 0 : tail.split(":").length;
    while (groups.length + after < 8) groups.push("0");
  }
  return groups.slice(0, 4).join(":") + "::/64";
}

/** Returns the network of an address group: the /48 of IPv6, the /24 of IPv4. Others are their own. */
export function networkOf(group: string): string {
  const [separator] = /[.:]/.exec(group) ?? [];
  return separator === undefined ? group : group.split(separator).slice(0, 3).join(separator);
}
