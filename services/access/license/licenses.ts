/**
 * Changes the edition while the service runs: installs or removes a license, starts the trial.
 *
 * @module
 */

import { selectSetting, upsertSetting } from "../../../db/settings.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { createLicense, type LicenseGrant } from "./license.ts";
import { errorFields } from "../../log.ts";
import type { EndStore } from "./protection.ts";
import {
  checkLicenseKey,
  deleteLicenseKey,
  LICENSE_FILE,
  type LicensePlace,
  storeLicenseKey,
} from "./source.ts";
import { describeEdition, type EditionInfo } from "./current.ts";

/** Setting: when the trial was started. It is never deleted: each installation has one trial. */
const TRIAL_STARTED_AT = "trial_started_at";

/** When the trial of this installation was started; `undefined` if it never was. */
export function storedTrialStart(db: StateDatabase): Date | undefined {
  const text = selectSetting(db, TRIAL_STARTED_AT);
  if (text === undefined) return undefined;
  // An unreadable time still means that there was a trial.
  return new Date(Date.parse(text) || 0);
}

/** Setting: whether the Enterprise edition is active, or when it ended. */
const ENTERPRISE_END = "enterprise_end";

/** Stores the end of the Enterprise edition in the database. */
export function storedEnd({ db, log }: Pick<Deps, "db" | "log">): EndStore {
  return {
    load: () => selectSetting(db, ENTERPRISE_END),
    save(value) {
      try {
        upsertSetting(db, ENTERPRISE_END, value);
      } catch (error) {
        // The protection stays on in memory; only a restart would begin its period again.
        log.error("failed to store end of Enterprise edition", errorFields(error));
      }
    },
  };
}

/** Stores the start of a trial. */
export function storeTrialStart(db: StateDatabase, at: Date): void {
  upsertSetting(db, TRIAL_STARTED_AT, at.toISOString());
}

/**
 * Checks a key and stores it as the installation's license, replacing the previous one.
 *
 * @throws {AppError} `invalid` for a key that is not accepted, with the reason; `conflict` while
 * `LICENSE_KEY` is set, which takes precedence.
 */
export async function storeLicense(
  place: LicensePlace,
  now: () => Date,
  key: string,
): Promise<LicenseGrant> {
  assertLicenseFileUsed(place);
  let grant: LicenseGrant;
  try {
    grant = await checkLicenseKey(key, place);
  } catch (error) {
    throw new AppError("invalid", (error as Error).message, { cause: error });
  }
  const license = createLicense(now);
  license.use(grant);
  if (license.problem !== null) throw new AppError("invalid", license.problem);
  storeLicenseKey(place, key);
  return grant;
}

/**
 * Installs a license. It takes effect with the next request, and for workers within a second.
 *
 * @throws {AppError} As {@linkcode storeLicense}.
 */
export async function installLicense(
  deps: Pick<Deps, "config" | "counts" | "db" | "license" | "log" | "now">,
  key: string,
): Promise<EditionInfo> {
  const { config, license, log, now } = deps;
  const grant = await storeLicense(config, now, key);
  license.use(grant);
  log.info("license installed", { edition: license.edition, expiresAt: license.expiresAt });
  return describeEdition(deps);
}

/**
 * Removes the installed license. Records that it allowed are not deleted.
 *
 * @throws {AppError} `not_found` if none is installed; `conflict` while `LICENSE_KEY` is set.
 */
export function removeLicense(
  deps: Pick<Deps, "config" | "counts" | "db" | "license" | "log">,
): EditionInfo {
  const { config, license, log } = deps;
  assertLicenseFileUsed(config);
  if (!deleteLicenseKey(config)) throw new AppError("not_found", "No license is installed");
  license.use(undefined);
  log.info("license removed", { edition: license.edition });
  return describeEdition(deps);
}

/**
 * Enables the Enterprise edition for 30 days.
 *
 * @throws {AppError} `conflict` if the trial was started before, and while a license is installed,
 * which takes precedence.
 */
export function startTrial(
  deps: Pick<Deps, "counts" | "db" | "license" | "log" | "now">,
): EditionInfo {
  const { db, license, log, now } = deps;
  if (license.trial) {
    const { startedAt, endsAt } = license.trial;
    const ends = now() < new Date(endsAt) ? "ends" : "ended";
    throw new AppError(
      "conflict",
      `The trial was started at ${startedAt} and ${ends} at ${endsAt}; ` +
        "each installation has one trial",
    );
  }
  if (license.grant) {
    throw new AppError(
      "conflict",
      `A license is installed (${license.grant.edition}) and takes precedence over a trial`,
    );
  }
  const at = now();
  storeTrialStart(db, at);
  license.startTrial(at);
  log.info("trial started", { edition: license.edition, expiresAt: license.expiresAt });
  return describeEdition(deps);
}

function assertLicenseFileUsed({ licenseKey }: Pick<LicensePlace, "licenseKey">): void {
  if (licenseKey === null) return;
  throw new AppError(
    "conflict",
    `LICENSE_KEY is set in the environment and takes precedence over ${LICENSE_FILE}; ` +
      "change it there",
  );
}
