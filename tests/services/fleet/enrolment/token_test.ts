import { deepEqual, equal, throws } from "node:assert/strict";
import { toText } from "../../../../services/fleet/enrolment/keys.ts";
import {
  decodeToken,
  encodeToken,
  isHubAddress,
} from "../../../../services/fleet/enrolment/token.ts";

const token = {
  inviteId: toText(new Uint8Array(16).fill(1)),
  fingerprint: toText(new Uint8Array(32).fill(2)),
  secret: new Uint8Array(32).fill(3),
  address: "https://hub.example.com:8443/below",
};

Deno.test("A token has all that a host needs to join", () => {
  const text = encodeToken(token);
  deepEqual(decodeToken(text), token);
});

Deno.test("decodeToken() refuses a damaged token, and one of another version", () => {
  const text = encodeToken(token);
  const later = "lsjoin_" + toText(new Uint8Array([2, ...new Uint8Array(90)]));
  for (
    const wrong of [
      "",
      "x",
      text.slice(0, 100),
      text.slice(1),
      `${text}é`,
      "lsjoin_AQ",
      text + "A".repeat(700),
    ]
  ) {
    throws(() => decodeToken(wrong), { code: "invalid", message: /damaged/ });
  }
  throws(() => decodeToken(later), { code: "invalid", message: /another version/ });
});

for (
  const [address, isValid] of [
    ["https://hub.example.com", true],
    ["http://10.0.0.1:3000/hub", true],
    ["ftp://hub.example.com", false],
    ["https://user@hub.example.com", false],
    ["https://hub.example.com/?next=x", false],
    ["hub.example.com", false],
    [`https://hub.example.com/${"x".repeat(300)}`, false],
  ] as const
) {
  Deno.test(`${address.slice(0, 40)} is ${isValid ? "an" : "not an"} address of a hub`, () => {
    equal(isHubAddress(address), isValid);
  });
}
