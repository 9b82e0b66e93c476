/**
 * Where the license key and the keys that it is checked with come from.
 *
 * @module
 */

import { join } from "node:path";
import type { JSONWebKeySet } from "jose";
import type { Config } from "../config/config.ts";
import { type License, type LicenseGrant, verifyLicenseKey } from "./license.ts";
import bakedKeys from "./license_keys.json" with { type: "json" };
import type { Log } from "../log.ts";
import { readRegularFile, writePrivateFile } from "../backup/private_file.ts";
import { systemReason } from "../system_reason.ts";

/** Name of the license file in `DATA_DIR`. */
export const LICENSE_FILE = "license.key";

/** A license key is a few hundred bytes; a larger file is something else. */
const FILE_BYTES_MAX = 64 * 1024;

/** What of the configuration says where the license is. */
export type LicensePlace = Pick<Config, "licenseKey" | "licenseKeysFile" | "dataDir">;

/**
 * Puts the configured or installed license in force, or none where there is none. One that is not
 * valid is no reason not to start: the service then is the Community Edition and says why.
 */
export async function loadLicense(license: License, place: LicensePlace, log: Log): Promise<void> {
  for (;;) {
    const given = givenKey(place);
    const { grant, problem } = await examined(given, place);
    // Another one may have been installed meanwhile; from here to the end nothing waits.
    if (!isSame(given, givenKey(place))) continue;
    const before = [license.edition, license.expiresAt, license.problem].join();
    license.use(grant, problem);
    if (before === [license.edition, license.expiresAt, license.problem].join()) return;
    const { edition, expiresAt } = license;
    if (license.problem === null) log.info("license", { edition, expiresAt });
    else log.warn("license not in force", { edition, problem: license.problem });
    return;
  }
}

/**
 * Names the state of the license file, so that one that somebody replaces is noticed. Costs no
 * more than a look at the directory; empty while there is no file.
 */
export function licenseFileState({ dataDir }: Pick<Config, "dataDir">): string {
  try {
    const { mtime, size, ino } = Deno.statSync(join(dataDir, LICENSE_FILE));
    return [mtime?.getTime(), size, ino].join();
  } catch {
    return "";
  }
}

/**
 * Checks a key with the keys of this build, and those of `LICENSE_KEYS_FILE` when running from
 * source.
 *
 * @throws {Error} With a sentence that says why the key is not accepted.
 */
export async function checkLicenseKey(
  key: string,
  { licenseKeysFile }: Pick<Config, "licenseKeysFile">,
): Promise<LicenseGrant> {
  const baked = (bakedKeys as JSONWebKeySet).keys;
  if (licenseKeysFile === null) return await verifyLicenseKey(key, { keys: baked });
  let more: JSONWebKeySet["keys"];
  try {
    more = (JSON.parse(Deno.readTextFileSync(licenseKeysFile)) as JSONWebKeySet).keys;
    if (!Array.isArray(more)) throw new Error("it is not a JWKS");
  } catch (error) {
    const reason = systemReason(error);
    throw new Error(`LICENSE_KEYS_FILE=${licenseKeysFile} cannot be used: ${reason}`, {
      cause: error,
    });
  }
  return await verifyLicenseKey(key, { keys: [...baked, ...more] });
}

/** Keeps a key that was checked, as the installation's license. */
export function storeLicenseKey({ dataDir }: Pick<Config, "dataDir">, key: string): void {
  writePrivateFile(join(dataDir, LICENSE_FILE), key.trim() + "\n");
}

/** @returns Whether there was one. */
export function deleteLicenseKey({ dataDir }: Pick<Config, "dataDir">): boolean {
  try {
    Deno.removeSync(join(dataDir, LICENSE_FILE));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The text of a key, `undefined` where none is given, or why it cannot be read. */
type Given = string | undefined | Error;

function givenKey({ licenseKey, dataDir }: LicensePlace): Given {
  if (licenseKey !== null) return licenseKey;
  const path = join(dataDir, LICENSE_FILE);
  try {
    return readRegularFile(path, FILE_BYTES_MAX).trim() || undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    const reason = systemReason(error);
    return new Error(`${path} cannot be read: ${reason}`, { cause: error });
  }
}

function isSame(a: Given, b: Given): boolean {
  return a instanceof Error && b instanceof Error ? a.message === b.message : a === b;
}

async function examined(
  given: Given,
  place: LicensePlace,
): Promise<{ grant: LicenseGrant | undefined; problem?: string }> {
  if (given === undefined) return { grant: undefined };
  if (given instanceof Error) return { grant: undefined, problem: given.message };
  try {
    return { grant: await checkLicenseKey(given, place) };
  } catch (error) {
    return {
      grant: undefined,
      problem: systemReason(error),
    };
  }
}
