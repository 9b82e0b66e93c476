/** Checks of the license keys that are built into an executable. @module */

import { deepEqual, rejects } from "node:assert/strict";
import { publicPoints } from "../../deploy/build/check_license_keys.ts";

// RFC 8037, appendix A.
const X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const D = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

const key = { kty: "OKP", crv: "Ed25519", x: X, kid: "2026", alg: "EdDSA", use: "sig" };

Deno.test("public Ed25519 keys are accepted and told by their point", async () => {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const other = await crypto.subtle.exportKey("jwk", (pair as CryptoKeyPair).publicKey);

  deepEqual(await publicPoints(JSON.stringify({ keys: [key, other] })), [X, other.x]);
});

for (
  const [wrong, text, error] of [
    ["no JSON", "-----BEGIN PUBLIC KEY-----", "not JSON"],
    ["a bare key", JSON.stringify(key), 'a JWKS with at least one key is needed: {"keys": [...]}'],
    ["an empty set", '{"keys":[]}', 'a JWKS with at least one key is needed: {"keys": [...]}'],
    [
      "a private key",
      JSON.stringify({ keys: [key, { ...key, kid: "b", d: D }] }),
      'keys[1] holds the private member "d"; give the public half only',
    ],
    [
      "a shared secret",
      '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}',
      'keys[0] holds the private member "k"; give the public half only',
    ],
    [
      "a key of another curve",
      JSON.stringify({ keys: [{ ...key, crv: "X25519" }] }),
      'keys[0] is not an Ed25519 key (kty "OKP", crv "Ed25519", x)',
    ],
    [
      "a key for another algorithm",
      JSON.stringify({ keys: [{ ...key, alg: "ES256" }] }),
      "keys[0] is for another algorithm than EdDSA",
    ],
    [
      "a point of the wrong length",
      JSON.stringify({ keys: [{ ...key, x: X.slice(0, 20) }] }),
      "keys[0] has an x that is not a public key of 32 bytes",
    ],
    ["two keys of one name", JSON.stringify({ keys: [key, key] }), "two keys have the same kid"],
  ] as const
) {
  Deno.test(`license keys: ${wrong} is refused`, async () => {
    await rejects(publicPoints(text), { message: error });
  });
}
