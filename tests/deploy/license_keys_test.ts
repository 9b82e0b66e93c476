/**
 * Checks of the license keys that are built into an executable.
 *
 * @module
 */

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
  const { wrong, text, error } of [
    { wrong: "no JSON", text: "-----BEGIN PUBLIC KEY-----", error: "not JSON" },
    {
      wrong: "a bare key",
      text: JSON.stringify(key),
      error: 'a JWKS with at least one key is needed: {"keys": [...]}',
    },
    {
      wrong: "an empty set",
      text: '{"keys":[]}',
      error: 'a JWKS with at least one key is needed: {"keys": [...]}',
    },
    {
      wrong: "a private key",
      text: JSON.stringify({ keys: [key, { ...key, kid: "b", d: D }] }),
      error: 'keys[1] holds the private member "d"; give the public half only',
    },
    {
      wrong: "a shared secret",
      text: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}',
      error: 'keys[0] holds the private member "k"; give the public half only',
    },
    {
      wrong: "a key of another curve",
      text: JSON.stringify({ keys: [{ ...key, crv: "X25519" }] }),
      error: 'keys[0] is not an Ed25519 key (kty "OKP", crv "Ed25519", x)',
    },
    {
      wrong: "a key for another algorithm",
      text: JSON.stringify({ keys: [{ ...key, alg: "ES256" }] }),
      error: "keys[0] is for another algorithm than EdDSA",
    },
    {
      wrong: "a point of the wrong length",
      text: JSON.stringify({ keys: [{ ...key, x: X.slice(0, 20) }] }),
      error: "keys[0] has an x that is not a public key of 32 bytes",
    },
    {
      wrong: "two keys of one name",
      text: JSON.stringify({ keys: [key, key] }),
      error: "two keys have the same kid",
    },
  ]
) {
  Deno.test(`license keys: ${wrong} is refused`, async () => {
    await rejects(publicPoints(text), { message: error });
  });
}
