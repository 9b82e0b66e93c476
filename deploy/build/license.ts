/**
 * The vendor's tools: makes the key pair that licenses are signed with, and issues licenses. No
 * part of what is shipped.
 *
 *     deno task license keygen [--key FILE] [--public FILE]
 *     deno task license issue --key FILE --customer NAME --edition pro|enterprise
 *                             (--days N | --expires DATE) [--limits JSON]
 *
 * @module
 */

import { parseArgs } from "node:util";
import {
  calculateJwkThumbprint,
  CompactSign,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
} from "jose";
import { verifyLicenseKey } from "../../services/access/license/license.ts";
import { LIMITED_RESOURCES } from "../../services/access/license/limits.ts";
import { publicPoints } from "./check_license_keys.ts";

const USAGE = `The vendor's tools for licenses.

Usage: deno task license keygen [--key FILE] [--public FILE]
       deno task license issue --key FILE --customer NAME --edition pro|enterprise
                               (--days N | --expires DATE) [--limits JSON]

keygen makes an Ed25519 key pair.
  --key FILE        where the private key goes (JWK, mode 0600; license_private.jwk); a file that
                    is there is never overwritten
  --public FILE     where the public key goes (JWKS): a new file, or one that it is added to;
                    without it the JWKS is printed. compile.sh --license-keys FILE bakes it into
                    the program.

issue prints a license key.
  --key FILE        the private key
  --customer NAME   who it is for
  --edition NAME    pro or enterprise
  --days N          how long it is good for, from now
  --expires DATE    or until when: 2027-06-30 (that day is the last, UTC) or a full ISO 8601 time
  --limits JSON     numbers in place of the edition's own, e.g. '{"users": 40}', for
                    ${LIMITED_RESOURCES.join(", ")}`;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Ten years and a bit: more is a slip of the keyboard. */
const DAYS_MAX = 3_700;

/** A mistake of the vendor; the message is a sentence. */
class VendorError extends Error {
  override readonly name = "VendorError";
}

/** A key pair, as JWKs. */
export interface LicenseKeyPair {
  privateKey: JWK;
  publicKey: JWK;
}

if (import.meta.main) {
  try {
    console.log(await main(Deno.args, new Date()));
  } catch (error) {
    console.error(`license: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}

/** @returns What to print. */
async function main([command, ...args]: readonly string[], now: Date): Promise<string> {
  if (command === undefined || ["help", "--help", "-h"].includes(command)) return USAGE;
  if (args.some((arg) => arg === "--help" || arg === "-h")) return USAGE;
  if (command === "keygen") return await keygen(args);
  if (command === "issue") return await issue(args, now);
  throw new VendorError(`there is no command ${command}; see: deno task license help`);
}

async function keygen(args: string[]): Promise<string> {
  const options = optionsOf(args, ["key", "public"]);
  const keyFile = options.key ?? "license_private.jwk";
  const set = options.public === undefined ? { keys: [] } : await publicSet(options.public);
  const { privateKey, publicKey } = await makeKeyPair();

  set.keys.push(publicKey);
  const jwks = JSON.stringify(set, null, 2);
  writeNew(keyFile, JSON.stringify(privateKey, null, 2) + "\n");
  if (options.public === undefined) {
    console.error(`Private key: ${keyFile}. Keep it secret, and keep it: every license needs it.`);
    return jwks;
  }
  Deno.writeTextFileSync(options.public, jwks + "\n");
  return `Private key: ${keyFile}\nPublic keys: ${options.public} (${set.keys.length})`;
}

async function issue(args: string[], now: Date): Promise<string> {
  const options = optionsOf(args, ["key", "customer", "edition", "days", "expires", "limits"]);
  const { key, customer, edition, days, expires, limits } = options;
  if (key === undefined) throw new VendorError("--key FILE is needed");
  if (customer === undefined) throw new VendorError("--customer NAME is needed");
  if (edition === undefined) {
    throw new VendorError("--edition pro or --edition enterprise is needed");
  }
  if ((days === undefined) === (expires === undefined)) {
    throw new VendorError("one of --days N and --expires DATE is needed");
  }
  return await issueLicense(readJson(key, "--key") as JWK, {
    sub: customer,
    edition,
    iat: Math.floor(now.getTime() / 1000),
    exp: Math.floor(expiry({ days, expires }, now).getTime() / 1000),
    ...(limits !== undefined && { limits: parseJson(limits, "--limits") }),
  });
}

/** A new Ed25519 pair, named by the thumbprint of its public half (RFC 7638). */
export async function makeKeyPair(): Promise<LicenseKeyPair> {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const bare = await exportJWK(pair.publicKey);
  const names = { kid: await calculateJwkThumbprint(bare), alg: "EdDSA", use: "sig" };
  return {
    publicKey: { ...bare, ...names },
    privateKey: { ...await exportJWK(pair.privateKey), ...names },
  };
}

/**
 * Signs the claims of a license, and reads the result as the program will.
 *
 * @throws {VendorError} For a key that is not a private Ed25519 key, and for claims that the program
 * would not accept.
 */
export async function issueLicense(
  privateKey: JWK,
  claims: Record<string, unknown>,
): Promise<string> {
  const { kty, crv, x, d } = privateKey ?? {};
  if (kty !== "OKP" || crv !== "Ed25519" || !x || !d) {
    throw new VendorError("the key is not a private Ed25519 key (JWK) as keygen writes it");
  }
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  const license = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid })
    .sign(await importJWK({ kty, crv, x, d }, "EdDSA"));
  try {
    await verifyLicenseKey(license, { keys: [{ kty, crv, x, kid, alg: "EdDSA" }] });
  } catch (error) {
    throw new VendorError((error as Error).message, { cause: error });
  }
  return license;
}

function expiry(
  { days, expires }: { days: string | undefined; expires: string | undefined },
  now: Date,
): Date {
  if (days !== undefined) {
    if (!/^\d+$/.test(days) || Number(days) < 1 || Number(days) > DAYS_MAX) {
      throw new VendorError(`--days ${days} must be a whole number, 1 to ${DAYS_MAX}`);
    }
    return new Date(now.getTime() + Number(days) * DAY_MS);
  }
  const text = expires ?? "";
  const wholeDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const at = new Date(wholeDay ? `${text}T00:00:00Z` : text);
  // A day that no calendar has is read as one of the next month.
  const isDate = !Number.isNaN(at.getTime()) && (!wholeDay || at.toISOString().startsWith(text)) &&
    /^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  if (!isDate) throw new VendorError(`--expires ${text} must be a date or an ISO 8601 time`);
  const end = wholeDay ? new Date(at.getTime() + DAY_MS) : at;
  if (end <= now) throw new VendorError(`--expires ${text} is in the past`);
  return end;
}

function optionsOf<Name extends string>(
  args: string[],
  names: readonly Name[],
): Partial<Record<Name, string>> {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
    return parseArgs({ args, options }).values as Partial<Record<Name, string>>;
  } catch (error) {
    throw new VendorError((error as Error).message, { cause: error });
  }
}

async function publicSet(path: string): Promise<JSONWebKeySet> {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { keys: [] };
    throw new VendorError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const set = parseJson(text, path) as JSONWebKeySet;
  if (set?.keys?.length !== 0) await publicPoints(text);
  return set;
}

/** Creates a file that only its owner can read. An existing private key is never overwritten. */
function writeNew(path: string, text: string): void {
  try {
    Deno.writeTextFileSync(path, text, { createNew: true, mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw new VendorError(`${path} is there already; a private key is never overwritten`);
  }
}

function readJson(path: string, name: string): unknown {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    throw new VendorError(`${name} ${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return parseJson(text, `${name} ${path}`);
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new VendorError(`${name} is not JSON`, { cause: error });
  }
}
