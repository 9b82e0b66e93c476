import { deepEqual, equal, ok } from "node:assert/strict";
import {
  type Address,
  includesAddress,
  type Network,
  parseAddress,
  parseNetwork,
} from "../../services/ip_address.ts";

const network = (text: string): Network => {
  const found = parseNetwork(text);
  ok(!("refused" in found), `${text}: ${"refused" in found && found.refused}`);
  return found;
};

const address = (text: string): Address => {
  const found = parseAddress(text);
  ok(found, text);
  return found;
};

for (
  const [given, shown] of [
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["10.0.0.5", "10.0.0.5"],
    ["10.0.0.5/32", "10.0.0.5/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["203.0.113.128/25", "203.0.113.128/25"],
    ["203.0.113.254/31", "203.0.113.254/31"],
    ["::/0", "::/0"],
    ["::1", "::1"],
    ["::1/128", "::1/128"],
    ["2001:DB8::/32", "2001:db8::/32"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["fe80::/10", "fe80::/10"],
    ["2001:db8::8000/113", "2001:db8::8000/113"],
    // Mapped IPv4, as address and as network.
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::FFFF:a00:1", "10.0.0.1"],
    ["0:0:0:0:0:ffff:10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
    ["::ffff:10.0.0.1/128", "10.0.0.1/32"],
    // IPv4 within other IPv6 is IPv6.
    ["::10.0.0.1", "::a00:1"],
    ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
    ["64:ff9b::/96", "64:ff9b::/96"],
    ["2002:a00:1::/48", "2002:a00:1::/48"],
  ] as const
) {
  Deno.test(`${given} is the network ${shown}`, () => {
    const { text } = network(given);
    equal(text, shown);
    equal(network(text).text, text);
  });
}

const NO_NETWORK = "must be a network such as 10.0.0.0/8, 2001:db8::/32 or 203.0.113.7";
const NO_IPV4 = "must have four decimal numbers from 0 to 255 without leading zeros";
const hostBits = (network: string, address: string) =>
  `has bits after its prefix: write ${network} for the network, or ${address} for the one address`;

for (
  const [given, refused] of [
    ["", NO_NETWORK],
    ["/8", NO_NETWORK],
    ["*", NO_NETWORK],
    ["all", NO_NETWORK],
    ["example.com", NO_NETWORK],
    [" 10.0.0.1", NO_NETWORK],
    ["10.0.0.1 ", NO_NETWORK],
    ["10.0.0.1\n", NO_NETWORK],
    ["10.0.0.1,10.0.0.2", NO_NETWORK],
    ["10.0.0.1-10.0.0.9", NO_NETWORK],
    ["[2001:db8::1]", NO_NETWORK],
    ["10.0.0.1:443", NO_NETWORK],
    ["10.0.0.0/8/8", NO_NETWORK],
    ["１０.0.0.1", NO_NETWORK],
    ["10。0。0。1", NO_NETWORK],
    ["2001:db8::g", NO_NETWORK],
    ["2001:db8::1::2", NO_NETWORK],
    [":::", NO_NETWORK],
    ["1:2:3:4:5:6:7:8:9", NO_NETWORK],
    ["00001::", NO_NETWORK],
    ["12345::", NO_NETWORK],
    ["::ffff:010.0.0.1", NO_NETWORK],
    ["::ffff:0x0a.0.0.1", NO_NETWORK],
    ["::ffff:10.0.0.256", NO_NETWORK],
    ["::ffff:10.0.1", NO_NETWORK],
    ["::10.0.0.1:1", NO_NETWORK],
    ["10.0.0.1::", NO_NETWORK],
    // Addresses that other programs read as octal, hexadecimal or short.
    ["010.0.0.1", NO_IPV4],
    ["10.0.0.08", NO_IPV4],
    ["10.00.0.1", NO_IPV4],
    ["0x0a.0.0.1", NO_IPV4],
    ["0x7f000001", NO_IPV4],
    ["10", NO_IPV4],
    ["167772161", NO_IPV4],
    ["10.1", NO_IPV4],
    ["10.0.1/24", NO_IPV4],
    ["10.0.0.256", NO_IPV4],
    ["1abc.2.3.4/24", NO_IPV4],
    ["10.0.0.0.0", NO_IPV4],
    ["10.0.0.1.", NO_IPV4],
    ["10.0.0.0/33", "must have a prefix from 0 to 32"],
    ["10.0.0.0/", "must have a prefix from 0 to 32"],
    ["10.0.0.0/-1", "must have a prefix from 0 to 32"],
    ["10.0.0.0/08", "must have a prefix from 0 to 32"],
    ["10.0.0.0/+8", "must have a prefix from 0 to 32"],
    ["10.0.0.0/8.0", "must have a prefix from 0 to 32"],
    ["10.0.0.0/1e1", "must have a prefix from 0 to 32"],
    ["10.0.0.0/0x8", "must have a prefix from 0 to 32"],
    ["10.0.0.0/ 8", "must have a prefix from 0 to 32"],
    ["10.0.0.0/255.0.0.0", "must have a prefix from 0 to 32"],
    ["2001:db8::/129", "must have a prefix from 0 to 128"],
    ["2001:db8::/1000", "must have a prefix from 0 to 128"],
    // It would cover more than IPv4.
    ["::ffff:0:0/95", "must have a prefix from 96 to 128"],
    ["::ffff:10.0.0.0/8", "must have a prefix from 96 to 128"],
    ["10.0.0.5/8", hostBits("10.0.0.0/8", "10.0.0.5")],
    ["10.0.0.5/0", hostBits("0.0.0.0/0", "10.0.0.5")],
    ["10.0.0.5/31", hostBits("10.0.0.4/31", "10.0.0.5")],
    ["2001:db8::1/32", hostBits("2001:db8::/32", "2001:db8::1")],
    ["::1/0", hostBits("::/0", "::1")],
    ["2001:db8::8000/112", hostBits("2001:db8::/112", "2001:db8::8000")],
    ["::ffff:10.0.0.5/104", hostBits("10.0.0.0/8", "10.0.0.5")],
    ["fe80::1%eth0", "must have no zone such as %eth0"],
    ["fe80::%eth0/64", "must have no zone such as %eth0"],
    ["10.0.0.1%1", "must have no zone such as %eth0"],
  ] as const
) {
  Deno.test(`${JSON.stringify(given)} is not a network`, () => {
    deepEqual(parseNetwork(given), { refused });
  });
}

for (
  const [cidr, inside, outside] of [
    ["10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], [
      "9.255.255.255",
      "11.0.0.0",
    ]],
    ["10.0.0.5", ["10.0.0.5", "::ffff:a00:5"], ["10.0.0.4", "10.0.0.6", "::10.0.0.5"]],
    ["203.0.113.128/25", ["203.0.113.128", "203.0.113.255"], ["203.0.113.127", "203.0.114.0"]],
    ["10.0.0.4/31", ["10.0.0.4", "10.0.0.5"], ["10.0.0.3", "10.0.0.6"]],
    // All of one family is nothing of the other.
    ["0.0.0.0/0", ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"], ["::", "::1", "2001:db8::1"]],
    ["::/0", ["::", "::1", "ffff::"], ["1.2.3.4", "::ffff:1.2.3.4"]],
    ["::ffff:0:0/96", ["1.2.3.4"], ["::1"]],
    ["::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:10.1.2.3"], ["11.0.0.0", "::10.1.2.3"]],
    ["2001:db8::/32", ["2001:db8::", "2001:db8:ffff::1"], ["2001:db7:ffff::", "2001:db9::"]],
    ["2001:db8::/33", ["2001:db8:7fff::"], ["2001:db8:8000::"]],
    ["fe80::/10", ["fe80::1", "fe80::1%eth0", "fe80::1%2", "febf::"], ["fec0::", "fe7f::"]],
    ["::1", ["::1", "0:0:0:0:0:0:0:1"], ["::", "::2", "127.0.0.1"]],
    // IPv4 in other IPv6 is another address.
    ["10.0.0.0/8", [], ["64:ff9b::10.0.0.1", "2002:a00:1::", "::10.0.0.1", "::ffff:0:10.0.0.1"]],
  ] as const
) {
  Deno.test(`${cidr} has ${inside.join(", ") || "nothing"} and not ${outside.join(", ")}`, () => {
    for (const text of inside) equal(includesAddress(network(cidr), address(text)), true, text);
    for (const text of outside) equal(includesAddress(network(cidr), address(text)), false, text);
  });
}

Deno.test("every prefix has exactly the addresses whose first bits are its own", () => {
  const value = (text: string) =>
    address(text).toByteArray().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  for (
    const [base, width] of [["255.255.255.255", 32], ["ffff:".repeat(8).slice(0, -1), 128]] as const
  ) {
    const bits = BigInt(width);
    for (let prefix = 0n; prefix <= bits; prefix++) {
      const first = value(base) >> (bits - prefix) << (bits - prefix);
      const text = (n: bigint) =>
        width === 32
          ? [24n, 16n, 8n, 0n].map((at) => n >> at & 255n).join(".")
          : Array.from({ length: 8 }, (_, i) => (n >> BigInt(112 - 16 * i) & 65535n).toString(16))
            .join(":");
      const found = network(`${text(first)}/${prefix}`);
      equal(includesAddress(found, address(text(first))), true, found.text);
      equal(includesAddress(found, address(base)), true, found.text);
      if (first > 0n) equal(includesAddress(found, address(text(first - 1n))), false, found.text);
    }
  }
});

for (
  const text of [
    "",
    "localhost",
    "10.0.0",
    "010.0.0.1",
    "0x7f.1",
    "10.0.0.1/8",
    "::1%",
    "%eth0",
    "::1%a b",
    "[::1]",
  ]
) {
  Deno.test(`${JSON.stringify(text)} is not an address`, () =>
    equal(parseAddress(text), undefined));
}
