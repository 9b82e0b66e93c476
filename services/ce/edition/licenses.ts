/**
 * How the edition changes while the service runs: a license is installed or removed, a trial
 * begins.
 *
 * @module
 */

import { selectSetting, upsertSetting } from "../../../db/ce/settings.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { createLicense, type LicenseGrant } from "../../license/license.ts";
import { errorFields } from "../../log.ts";
import type { EndStore } from "../../license/protection.ts";
import {
  checkLicenseKey,
  deleteLicenseKey,
  LICENSE_FILE,
  type LicensePlace,
  storeLicenseKey,
} from "../../license/source.ts";
import { describeEdition, type EditionInfo } from "./edition.ts";

/** Setting: when the trial was started; it stays, for there is one per installation. */
const TRIAL_STARTED_AT = "trial_started_at";

/** When the trial of this installation was started, if it ever was. */
export function storedTrialStart(db: StateDatabase): Date | undefined {
  const text = selectSetting(db, TRIAL_STARTED_AT);
  if (text === undefined) return undefined;
  // Whatever else stands there: there was a trial.
  return new Date(Date.parse(text) || 0);
}

/** Setting: whether the Enterprise edition is in force, or else when it ended. */
const ENTERPRISE_END = "enterprise_end";

/** Keeps the end of the Enterprise edition in the database. */
export function storedEnd({ db, log }: Pick<Deps, "db" | "log">): EndStore {
  return {
    load: () => selectSetting(db, ENTERPRISE_END),
    save(value) {
      try {
        upsertSetting(db, ENTERPRISE_END, value);
      } catch (error) {
        // Requests are still checked; only a restart would begin the period again.
        log.error("end of the edition not stored", errorFields(error));
      }
    },
  };
}

/** Stores the start of a trial. */
export function storeTrialStart(db: StateDatabase, at: Date): void {
  upsertSetting(db, TRIAL_STARTED_AT, at.toISOString());
}

/**
 * Checks a key and keeps it as the installation's license, in place of the former one.
 *
 * @throws {AppError} `invalid` for a key that is not accepted, with the reason; `conflict` where
 * the environment gives the license, for that one would still count.
 */
export async function keepLicense(
  place: LicensePlace,
  now: () => Date,
  key: string,
): Promise<LicenseGrant> {
  assertFileCounts(place);
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
 * Installs a license. It holds at once: for the next request, and for the workers within a second.
 *
 * @throws {AppError} As {@linkcode keepLicense} does.
 */
export async function installLicense(
  deps: Pick<Deps, "config" | "counts" | "db" | "license" | "log" | "now">,
  key: string,
): Promise<EditionInfo> {
  const { config, license, log, now } = deps;
  const grant = await keepLicense(config, now, key);
  license.use(grant);
  log.info("license installed", { edition: license.edition, expiresAt: license.expiresAt });
  return describeEdition(deps);
}

/**
 * Removes the installed license. Nothing of what it allowed is deleted.
 *
 * @throws {AppError} `not_found` where none is installed; `conflict` where the environment gives it.
 */
export function removeLicense(
  deps: Pick<Deps, "config" | "counts" | "db" | "license" | "log">,
): EditionInfo {
  const { config, license, log } = deps;
  assertFileCounts(config);
  if (!deleteLicenseKey(config)) throw new AppError("not_found", "No license is installed");
  license.use(undefined);
  log.info("license removed", { edition: license.edition });
  return describeEdition(deps);
}

/**
 * Opens the Enterprise edition for 30 days.
 *
 * @throws {AppError} `conflict` where it was started before, and while a license is in force, which
 * would count before it.
 */
export function startTrial(
  deps: Pick<Deps, "counts" | "db" | "license" | "log" | "now">,
): EditionInfo {
  const { db, license, log, now } = deps;
  if (license.trial) {
    const { startedAt, endsAt } = license.trial;
    const fate = now() < new Date(endsAt) ? "ends" : "ended";
    throw new AppError(
      "conflict",
      `The trial of this installation was started on ${startedAt} and ${fate} on ${endsAt}; ` +
        "there is one per installation",
    );
  }
  if (license.grant) {
    throw new AppError(
      "conflict",
      `A license is in force (${license.grant.edition}); a trial would change nothing`,
    );
  }
  const at = now();
  storeTrialStart(db, at);
  license.startTrial(at);
  log.info("trial started", { edition: license.edition, expiresAt: license.expiresAt });
  return describeEdition(deps);
}

function assertFileCounts({ licenseKey }: Pick<LicensePlace, "licenseKey">): void {
  if (licenseKey === null) return;
  throw new AppError(
    "conflict",
    `LICENSE_KEY is set in the environment and counts before ${LICENSE_FILE}; change it there`,
  );
}
