/**
 * How the database file is to be encrypted: settings and what is known of it. Nothing is encrypted
 * here; that is done by the layer that opens the file, where there is one.
 *
 * @module
 */

import {
  type EncryptionConfig,
  selectCipherVersion,
  selectEncryptionConfig,
  updateEncryptionConfig,
} from "../../db/enterprise/encryption_config.ts";
import { selectLastRotationAt, selectPendingRotation } from "../../db/enterprise/key_rotations.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { recordEncryptionEvent } from "./encryption_audit.ts";

export { CIPHER_ALGORITHMS, PAGE_SIZES } from "../../db/enterprise/encryption_config.ts";

/** The settings as shown. */
export interface EncryptionSettings {
  enabled: boolean;
  algorithm: EncryptionConfig["algorithm"];
  kdf_iterations: number;
  page_size: EncryptionConfig["pageSize"];
}

/** What an update may say; what it leaves out stays. */
export type EncryptionChange = {
  [Field in keyof EncryptionSettings]?: EncryptionSettings[Field] | undefined;
};

export interface EncryptionStatus {
  enabled: boolean;
  sqlcipher_available: boolean;
  algorithm: EncryptionConfig["algorithm"];
  kdf_iterations: number;
  /** When a rotation was last completed. */
  last_rotation: string | null;
  pending_rotations: number;
}

export function describeEncryption({ db }: Pick<Deps, "db">): EncryptionStatus {
  const { enabled, algorithm, kdf_iterations } = getEncryptionSettings({ db });
  return {
    enabled,
    sqlcipher_available: isCipherAvailable({ db }),
    algorithm,
    kdf_iterations,
    last_rotation: selectLastRotationAt(db),
    pending_rotations: selectPendingRotation(db) ? 1 : 0,
  };
}

export function getEncryptionSettings({ db }: Pick<Deps, "db">): EncryptionSettings {
  const { enabled, algorithm, kdfIterations, pageSize } = selectEncryptionConfig(db);
  return { enabled, algorithm, kdf_iterations: kdfIterations, page_size: pageSize };
}

/**
 * Changes what is given and writes down what was changed.
 *
 * @throws {AppError} `conflict` for turning it on where the database cannot do it.
 */
export function changeEncryptionSettings(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  change: EncryptionChange,
): EncryptionSettings {
  const { db, log } = deps;
  if (change.enabled === true && !isCipherAvailable(deps)) {
    throw new AppError(
      "conflict",
      "Encryption cannot be turned on: the database is opened by SQLite without SQLCipher " +
        "(PRAGMA cipher_version answers nothing)",
    );
  }
  return db.transaction(() => {
    const before = getEncryptionSettings(deps);
    const after: EncryptionSettings = {
      enabled: change.enabled ?? before.enabled,
      algorithm: change.algorithm ?? before.algorithm,
      kdf_iterations: change.kdf_iterations ?? before.kdf_iterations,
      page_size: change.page_size ?? before.page_size,
    };
    const changes = differences(before, after);
    if (changes === "") return before;
    updateEncryptionConfig(db, {
      enabled: after.enabled,
      algorithm: after.algorithm,
      kdfIterations: after.kdf_iterations,
      pageSize: after.page_size,
    });
    recordEncryptionEvent(deps, caller, "config_updated", changes);
    log.info("encryption settings changed", { changes });
    return after;
  });
}

/** E.g. `algorithm: aes-256-cbc -> aes-256-gcm, page_size: 4096 -> 8192`. */
function differences(before: EncryptionSettings, after: EncryptionSettings): string {
  return (Object.keys(before) as (keyof EncryptionSettings)[])
    .filter((field) => before[field] !== after[field])
    .map((field) => `${field}: ${before[field]} -> ${after[field]}`)
    .join(", ");
}

const isCipherAvailable = ({ db }: Pick<Deps, "db">) => selectCipherVersion(db) !== undefined;
