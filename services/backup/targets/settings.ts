/** Settings of targets, and what a change keeps of them. @module */

import { join, resolve } from "node:path";
import type { StoredTarget } from "../../../db/backup_targets.ts";
import { type Change, definedFields } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { GIVE_AGAIN, NOTHING_STORED, REDACTED } from "../../text/redact.ts";
import { type Credentials, openSecrets } from "./credentials.ts";
import { SNAPSHOTS_DIRECTORY } from "./directories.ts";
import { type Location, locationText, originOf, parseLocation } from "./location.ts";

/** Settings of a target in requests, besides whether it is the default. */
export interface TargetSettings extends Credentials {
  name: string;
  location: string;
  /** Of the repository; `null` to have one made. */
  password: string | null;
}

/** Fields that are stored encrypted and never shown. */
const SECRETS = ["password", "secretAccessKey", "userPassword"] as const;

const NO_CREDENTIALS: Credentials = {
  accessKeyId: null,
  secretAccessKey: null,
  region: null,
  username: null,
  userPassword: null,
  caCertificate: null,
};

/** @throws {AppError} `invalid` for a redacted secret, which a new target cannot keep. */
export function assertNoneKept(settings: TargetSettings): void {
  for (const field of SECRETS) {
    if (settings[field] === REDACTED) throw nothingStored(field);
  }
}

/** @throws {AppError} `conflict` if the secrets cannot be decrypted. */
export function settingsOf(
  { secrets }: Pick<Deps, "secrets">,
  target: StoredTarget,
): TargetSettings {
  const { name, location, accessKeyId, region, username, caCertificate } = target;
  const known = openSecrets(secrets, target);
  return { name, location, accessKeyId, region, username, caCertificate, ...known };
}

/**
 * The settings after a change. Secrets are kept for the same server only; another location does not
 * keep the password of a repository on another server.
 *
 * @throws {AppError} `invalid` for secrets that cannot be kept.
 */
export function mergeSettings(
  deps: Pick<Deps, "config">,
  before: TargetSettings,
  { location: given, ...change }: Change<TargetSettings>,
): TargetSettings {
  const after = given === undefined ? undefined : checkLocation(deps, given);
  const location = after ? locationText(after) : before.location;
  const base = { ...basisOf(before, after ?? storedLocation(before)), location };
  const merged: TargetSettings = { ...base, ...definedFields(change) };
  for (const field of SECRETS) {
    if (merged[field] !== REDACTED) continue;
    if (before[field] === null) throw nothingStored(field);
    if (base[field] === null) throw new AppError("invalid", `body.${field}: ${GIVE_AGAIN}`);
    merged[field] = base[field];
  }
  // Without the user, the secret has no meaning.
  if (change.accessKeyId === null) merged.secretAccessKey = null;
  if (change.username === null) merged.userPassword = null;
  return merged;
}

/** The settings that a change can keep at a location. */
function basisOf(before: TargetSettings, location: Location): TargetSettings {
  const known = storedLocation(before);
  if (known.kind !== location.kind) return { ...before, ...NO_CREDENTIALS, password: null };
  if (originOf(known) === originOf(location)) return before;
  return { ...before, password: null, secretAccessKey: null, userPassword: null };
}

const storedLocation = ({ location }: TargetSettings) => parseLocation(location) as Location;

/**
 * @param text Empty for the directory in `DATA_DIR`.
 * @throws {AppError} `invalid`.
 */
export function checkLocation({ config }: Pick<Deps, "config">, text: string): Location {
  const location = parseLocation(text || join(resolve(config.dataDir), SNAPSHOTS_DIRECTORY));
  if (typeof location !== "string") return location;
  throw new AppError("invalid", `body.location: ${location}`);
}

const nothingStored = (field: typeof SECRETS[number]) =>
  new AppError("invalid", `body.${field}: ${NOTHING_STORED}`);
