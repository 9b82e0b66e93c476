import { equal, match } from "node:assert/strict";
import {
  fingerprintFault,
  fingerprintOf,
  parseFingerprint,
} from "../../../../services/enterprise/mtls/fingerprints.ts";

const HEX = "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730";
const COLONS = HEX.match(/../g)!.join(":");

for (
  const text of [
    HEX,
    HEX.toUpperCase(),
    COLONS,
    COLONS.toUpperCase(),
    `sha256:${HEX}`,
    `SHA256:${HEX.toUpperCase()}`,
    `sha256:${COLONS.toUpperCase()}`,
    ` ${HEX} `,
  ]
) {
  Deno.test(`${text.slice(0, 20)} (${text.length}) is read as a fingerprint`, () => {
    equal(parseFingerprint(text), `sha256:${HEX}`);
  });
}

for (
  const [what, text] of [
    ["nothing", ""],
    ["a prefix alone", "sha256:"],
    ["a digit too few", HEX.slice(1)],
    ["a digit too many", `${HEX}0`],
    ["a letter that is not a hex digit", `g${HEX.slice(1)}`],
    ["a digit of another script", `\uff10${HEX.slice(1)}`],
    ["colons here and there", `${HEX.slice(0, 2)}:${HEX.slice(2)}`],
    ["a colon at the end", `${COLONS}:`],
    ["two prefixes", `sha256:sha256:${HEX}`],
    ["another prefix", `sha512:${HEX}`],
    ["two of them", `${HEX},${HEX}`],
    ["one in another line", `${HEX}\n${HEX}`],
    ["SHA-1", "a9993e364706816aba3e25717850c26c9cd0d89d"],
  ] as const
) {
  Deno.test(`${what} is not a fingerprint`, () => equal(parseFingerprint(text), undefined));
}

Deno.test("a SHA-1 fingerprint is refused with a reason of its own", () => {
  match(fingerprintFault("a9993e364706816aba3e25717850c26c9cd0d89d"), /^is a SHA-1 fingerprint/);
  match(fingerprintFault("A9:99:3E:36:47:06:81:6A:BA:3E:25:71:78:50:C2:6C:9C:D0:D8:9D"), /SHA-1/);
  match(fingerprintFault("nonsense"), /^must be a SHA-256 fingerprint/);
});

Deno.test("the fingerprint of bytes is their SHA-256", () => {
  // FIPS 180-2, B.1.
  equal(
    fingerprintOf(new TextEncoder().encode("abc")),
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
