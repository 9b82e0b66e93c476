/** License keys for tests, and licenses signed with them. @module */

import { issueLicense, makeKeyPair } from "../../deploy/build/license.ts";

const DAY_S = 24 * 60 * 60;

/** Created once: all licenses of a test run have the same vendor. */
const pair = await makeKeyPair();

/** Writes the file for `LICENSE_KEYS_FILE`. @returns Its path. */
export function writeLicenseKeys(directory: string): string {
  const path = `${directory}/test_license_keys.json`;
  Deno.writeTextFileSync(path, JSON.stringify({ keys: [pair.publicKey] }));
  return path;
}

/** A license key; Pro for Harbour Ltd, good for `days` from `now`, unless claims say otherwise. */
export async function licenseKeyFor(
  { now = new Date(), days = 30, ...claims }:
    & { now?: Date; days?: number }
    & Record<
      string,
      unknown
    > = {},
): Promise<string> {
  const exp = Math.floor(now.getTime() / 1000) + days * DAY_S;
  return await issueLicense(pair.privateKey, {
    sub: "Harbour Ltd",
    edition: "pro",
    exp,
    ...claims,
  });
}
