import { equal } from "node:assert/strict";
import { encodeBase32 } from "../../../../services/access/factors/base32.ts";
import {
  findStep,
  otpauthUrl,
  stepAt,
  totpCode,
} from "../../../../services/access/factors/totp.ts";

const encoder = new TextEncoder();
const secret = encoder.encode("12345678901234567890");

Deno.test("totpCode() is right for the SHA-1 vectors of RFC 6238, appendix B", () => {
  for (
    const [seconds, code] of [
      [59, "94287082"],
      [1111111109, "07081804"],
      [1111111111, "14050471"],
      [1234567890, "89005924"],
      [2000000000, "69279037"],
      [20000000000, "65353130"],
    ] as const
  ) {
    const step = stepAt(new Date(seconds * 1000));
    equal(totpCode(secret, step, 8), code);
    equal(totpCode(secret, step), code.slice(2));
  }
});

Deno.test("encodeBase32() is right for the vectors of RFC 4648, section 10, without padding", () => {
  for (
    const [text, encoded] of Object.entries({
      "": "",
      f: "MY",
      fo: "MZXQ",
      foo: "MZXW6",
      foob: "MZXW6YQ",
      fooba: "MZXW6YTB",
      foobar: "MZXW6YTBOI",
    })
  ) equal(encodeBase32(encoder.encode(text)), encoded);
});

Deno.test("findStep() accepts one step of skew on each side, and none that was accepted before", () => {
  const now = new Date("2026-01-01T12:00:10Z");
  const current = stepAt(now);
  const find = (step: number, lastStep = -1) =>
    findStep(secret, totpCode(secret, step), { now, lastStep });
  equal(find(current - 2), undefined);
  equal(find(current - 1), current - 1);
  equal(find(current), current);
  equal(find(current + 1), current + 1);
  equal(find(current + 2), undefined);
  equal(find(current - 1, current - 1), undefined);
  equal(find(current - 1, current), undefined);
  equal(find(current + 1, current), current + 1);
});

Deno.test("otpauthUrl() encodes the issuer and the account", () => {
  equal(
    otpauthUrl(secret, { issuer: "Longshore dock:1", account: "ada+x@example.com" }),
    "otpauth://totp/Longshore%20dock%3A1:ada%2Bx%40example.com" +
      "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Longshore%20dock%3A1" +
      "&algorithm=SHA1&digits=6&period=30",
  );
});
