import { equal, match, notEqual } from "node:assert/strict";
import {
  isApiToken,
  isWellFormedApiToken,
  makeApiToken,
} from "../../../../services/access/api_tokens/secret.ts";

Deno.test("an API token has a prefix, 256 random bits and a checksum", () => {
  const token = makeApiToken();
  match(token, /^lst_[\w-]{49}$/);
  notEqual(token, makeApiToken());
  equal(isApiToken(token), true);
  equal(isWellFormedApiToken(token), true);
});

Deno.test("the checksum is the CRC-32 of what precedes it", () => {
  // zlib.crc32("lst_" + "A" * 43) == 0xc3c50ff3
  equal(isWellFormedApiToken(`lst_${"A".repeat(43)}w8UP8w`), true);
});

Deno.test("every changed character is noticed", () => {
  const token = makeApiToken();
  for (let at = 4; at < token.length; at++) {
    const other = token[at] === "A" ? "B" : "A";
    equal(isWellFormedApiToken(token.slice(0, at) + other + token.slice(at + 1)), false);
  }
  for (const wrong of ["", "lst_", token + "A", token.slice(1), token.toUpperCase()]) {
    equal(isWellFormedApiToken(wrong), false);
  }
});
