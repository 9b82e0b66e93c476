/**
 * Where the license key and the keys that it is checked with come from.
 *
 * @module
 */

import { join } from "node:path";
import type { JSONWebKeySet } from "jose";
import type { Config } from "./config.ts";
import { type License, verifyLicenseKey } from "./license.ts";
import bakedKeys from "./license_keys.json" with { type: "json" };
import type { Log } from "./log.ts";

/** Name of the license file in `DATA_DIR`. */
export const LICENSE_FILE = "license.key";

/**
 * Puts the configured or installed license in force. One that is not valid is no reason not to
 * start: the service then is the Community Edition and says why.
 */
export async function loadLicense(
  license: License,
  config: Pick<Config, "licenseKey" | "licenseKeysFile" | "dataDir">,
  log: Log,
): Promise<void> {
  const key = config.licenseKey ?? readIfThere(join(config.dataDir, LICENSE_FILE));
  if (key === undefined) return;
  try {
    license.use(await verifyLicenseKey(key, licenseKeys(config)));
    log.info("license", { edition: license.edition, expiresAt: license.expiresAt });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    license.use(undefined, problem);
    log.warn("license not accepted", { problem });
  }
}

/** The keys of this build, and those of `LICENSE_KEYS_FILE` when running from source. */
function licenseKeys({ licenseKeysFile }: Pick<Config, "licenseKeysFile">): JSONWebKeySet {
  const baked = (bakedKeys as JSONWebKeySet).keys;
  if (licenseKeysFile === null) return { keys: baked };
  const more = JSON.parse(Deno.readTextFileSync(licenseKeysFile)) as JSONWebKeySet;
  return { keys: [...baked, ...more.keys] };
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path).trim() || undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
