/**
 * Checks a file of license keys before it is baked into an executable: it must be a JWKS (RFC
 * 7517) of public Ed25519 keys (RFC 8037) and of nothing else. Writes the `x` of each key to
 * standard output, one a line, so that the caller can find them in what it built.
 *
 *     deno run --allow-read check_license_keys.ts FILE
 *
 * @module
 */

/** Members that would carry secret material (RFC 7518, RFC 8037). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

if (import.meta.main) {
  try {
    const points = await publicPoints(await Deno.readTextFile(Deno.args[0] ?? ""));
    console.log(points.join("\n"));
  } catch (error) {
    console.error(`license keys: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}

/**
 * The public point (`x`, base64url) of each key.
 *
 * @throws {Error} A sentence that names the first key that is not a public Ed25519 key.
 */
export async function publicPoints(text: string): Promise<string[]> {
  let jwks: unknown;
  try {
    jwks = JSON.parse(text);
  } catch {
    throw new Error("not JSON");
  }
  const keys = isRecord(jwks) ? jwks.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new Error('a JWKS with at least one key is needed: {"keys": [...]}');
  }
  const kids = keys.map((key) => isRecord(key) ? key.kid : undefined).filter((kid) => kid);
  if (new Set(kids).size !== kids.length) throw new Error("two keys have the same kid");
  return await Promise.all(keys.map((key, index) => publicPoint(key, `keys[${index}]`)));
}

async function publicPoint(key: unknown, name: string): Promise<string> {
  if (!isRecord(key)) throw new Error(`${name} is not an object`);
  const secret = PRIVATE_MEMBERS.find((member) => member in key);
  if (secret !== undefined) {
    throw new Error(`${name} holds the private member "${secret}"; give the public half only`);
  }
  if (key.kty !== "OKP" || key.crv !== "Ed25519" || typeof key.x !== "string") {
    throw new Error(`${name} is not an Ed25519 key (kty "OKP", crv "Ed25519", x)`);
  }
  if (key.alg !== undefined && key.alg !== "EdDSA" && key.alg !== "Ed25519") {
    throw new Error(`${name} is for another algorithm than EdDSA`);
  }
  const { kty, crv, x } = key;
  await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]).catch(() => {
    throw new Error(`${name} has an x that is not a public key of 32 bytes`);
  });
  return x;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
