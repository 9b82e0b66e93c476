/** Groups of addresses that count as one client. @module */

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
