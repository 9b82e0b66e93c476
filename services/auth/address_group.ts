/**
 * Which addresses belong to one client.
 *
 * @module
 */

/** The address itself, or for IPv6 its /64: who has one address of it has all of them. */
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
