/** Sources of the license key and of the public keys that verify it. @module */

import { join } from "node:path";
import type { JSONWebKeySet } from "jose";
import type { Config } from "../../config/config.ts";
import { type License, type LicenseGrant, verifyLicenseKey } from "./license.ts";
import bakedKeys from "./license_keys.json" with { type: "json" };
import type { Log } from "../../log.ts";
import { readRegularFile, writePrivateFile } from "../../secrets/private_file.ts";
import { systemReason } from "../../text/system_reason.ts";

/** Name of the license file in `DATA_DIR`. */
export const LICENSE_FILE = "license.key";

/** Maximum size of the license file; a license key has a few hundred bytes. */
const FILE_BYTES_MAX = 64 * 1024;

/** The configuration of the license. */
export type LicensePlace = Pick<Config, "licenseKey" | "licenseKeysFile" | "dataDir">;

/**
 * Applies the configured or installed license, if there is one. With an invalid license the service
 * runs as the Community Edition and reports the problem.
 */
export async function loadLicense(license: License, place: LicensePlace, log: Log): Promise<void> {
  for (;;) {
    const given = givenKey(place);
    const { grant, problem } = await checkGiven(given, place);
    // Another one may have been installed meanwhile. There is no `await` after this check.
    if (JSON.stringify(given) !== JSON.stringify(givenKey(place))) continue;
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
 * Returns a text that changes when the license file is replaced; empty without a file. Cheap, because
 * the file is not read.
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
 * Verifies a key with the keys of this build, and with those of `LICENSE_KEYS_FILE` when running from
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

/** Stores a verified key as the installation's license. */
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

/** The text of a key, or why it cannot be read; neither without a key. */
interface Given {
  key?: string;
  problem?: string;
}

function givenKey({ licenseKey, dataDir }: LicensePlace): Given {
  if (licenseKey !== null) return { key: licenseKey };
  const path = join(dataDir, LICENSE_FILE);
  try {
    const key = readRegularFile(path, FILE_BYTES_MAX).trim();
    return key === "" ? {} : { key };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    return { problem: `${path} cannot be read: ${systemReason(error)}` };
  }
}

async function checkGiven(
  { key, problem }: Given,
  place: LicensePlace,
): Promise<{ grant?: LicenseGrant; problem?: string | undefined }> {
  if (key === undefined) return { problem };
  try {
    return { grant: await checkLicenseKey(key, place) };
  } catch (error) {
    return { problem: systemReason(error) };
  }
}
