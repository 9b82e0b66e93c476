import { equal, throws } from "node:assert/strict";
import { clientAddress } from "../../../routes/pipeline/client_address.ts";

const PROXY = "10.0.0.1";
const addressOf = clientAddress(["10.0.0.0/8", "fd00::/8"]);

for (
  const { what, peer = PROXY, headers, address } of [
    { what: "the peer without a header", headers: {}, address: PROXY },
    {
      what: "the hop before the proxy",
      headers: { "x-forwarded-for": "203.0.113.7" },
      address: "203.0.113.7",
    },
    {
      what: "the last untrusted hop, not what the client wrote",
      headers: { "x-forwarded-for": "1.1.1.1, 203.0.113.7, 10.0.0.9" },
      address: "203.0.113.7",
    },
    {
      what: "the first hop when all are trusted",
      headers: { "x-forwarded-for": "10.0.0.8, 10.0.0.9" },
      address: "10.0.0.8",
    },
    { what: "X-Real-IP", headers: { "x-real-ip": "203.0.113.7" }, address: "203.0.113.7" },
    {
      what: "mapped IPv4 as IPv4",
      headers: { "x-forwarded-for": "::ffff:203.0.113.7" },
      address: "203.0.113.7",
    },
    {
      what: "an IPv4-compatible address as IPv6",
      headers: { "x-forwarded-for": "::203.0.113.9" },
      address: "::cb00:7109",
    },
    {
      what: "an IPv4-compatible proxy address as untrusted",
      headers: { "x-forwarded-for": "203.0.113.7, ::10.0.0.9" },
      address: "::a00:9",
    },
    {
      what: "IPv6 in brackets",
      peer: "fd00::1",
      headers: { "x-forwarded-for": "[2001:db8::7]" },
      address: "2001:db8::7",
    },
    {
      what: "the peer itself when it is not a trusted proxy",
      peer: "203.0.113.9",
      headers: { "x-forwarded-for": "1.1.1.1" },
      address: "203.0.113.9",
    },
    {
      what: "a proxy that connects by mapped IPv4",
      peer: "::ffff:10.0.0.1",
      headers: { "x-forwarded-for": "203.0.113.7" },
      address: "203.0.113.7",
    },
  ] as { what: string; peer?: string; headers: Record<string, string>; address: string }[]
) {
  Deno.test(`clientAddress() uses ${what}`, () => {
    equal(addressOf(peer, new Headers(headers)), address);
  });
}

for (
  const text of [
    "unknown",
    "203.0.113.7:1234",
    "203.0.113",
    "0x7f.1",
    "1.2.3.4, ",
    Array(40).fill("10.0.0.1").join(","),
  ]
) {
  Deno.test(`clientAddress() refuses X-Forwarded-For: ${text.slice(0, 40)}`, () => {
    throws(
      () => addressOf(PROXY, new Headers({ "x-forwarded-for": text })),
      /X-Forwarded-For is malformed/,
    );
  });
}

Deno.test("clientAddress() ignores headers without trusted proxies", () => {
  equal(clientAddress([])(PROXY, new Headers({ "x-forwarded-for": "1.1.1.1" })), PROXY);
});

Deno.test("a header of a trusted proxy is read in linear time", () => {
  const addressOf = clientAddress(["10.0.0.1/32"]);
  // Minutes of work, if each character starts another search.
  const long = "a".repeat(1_000_000);
  for (const hop of [`${long}:`, `::${long}`, `${long}%`, `%${long}!`, `1.${long}`, `[${long}:]`]) {
    throws(
      () => addressOf("10.0.0.1", new Headers({ "x-forwarded-for": hop })),
      (error: Error) => error.message.length < 200 && /malformed/.test(error.message),
    );
  }
});
