/**
 * Settings for the encryption of the database file. The service only stores them: encryption needs a
 * runtime that opens the file with SQLCipher instead of SQLite.
 *
 * @module
 */

import {
  type EncryptionConfig,
  selectCipherVersion,
  selectEncryptionConfig,
  updateEncryptionConfig,
} from "../../../db/enterprise/encryption_config.ts";
import {
  selectLastRotationAt,
  selectPendingRotation,
} from "../../../db/enterprise/key_rotations.ts";
import type { Caller } from "../../access/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { recordEncryptionEvent } from "./audit.ts";

export { CIPHER_ALGORITHMS, PAGE_SIZES } from "../../../db/enterprise/encryption_config.ts";

interface EncryptionStatus extends Omit<EncryptionConfig, "page_size"> {
  /** Whether the database was opened with SQLCipher. */
  sqlcipher_available: boolean;
  /** End of the last completed rotation; `null` if there is none. */
  last_rotation: string | null;
  pending_rotations: number;
}

export function describeEncryption({ db }: Pick<Deps, "db">): EncryptionStatus {
  const { enabled, algorithm, kdf_iterations } = selectEncryptionConfig(db);
  return {
    enabled,
    sqlcipher_available: isCipherAvailable(db),
    algorithm,
    kdf_iterations,
    last_rotation: selectLastRotationAt(db),
    pending_rotations: selectPendingRotation(db) ? 1 : 0,
  };
}

export function getEncryptionConfig({ db }: Pick<Deps, "db">): EncryptionConfig {
  return selectEncryptionConfig(db);
}

/**
 * Changes the given settings and records the change in the audit.
 *
 * @throws {AppError} `conflict` for enabling encryption without SQLCipher.
 */
export function changeEncryptionConfig(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  change: Change<EncryptionConfig>,
): EncryptionConfig {
  const { db, log } = deps;
  if (change.enabled === true && !isCipherAvailable(db)) {
    throw new AppError(
      "conflict",
      "Cannot enable encryption: the database was opened by SQLite without SQLCipher " +
        "(PRAGMA cipher_version returns no value)",
    );
  }
  return db.transaction(() => {
    const before = selectEncryptionConfig(db);
    const after = applyChange(before, change);
    const changes = differences(before, after);
    if (changes === "") return before;
    updateEncryptionConfig(db, after);
    recordEncryptionEvent(deps, caller, "config_updated", changes);
    log.info("encryption settings changed", { changes });
    return after;
  });
}

/** E.g. `algorithm: aes-256-cbc -> aes-256-gcm, page_size: 4096 -> 8192`. */
function differences(before: EncryptionConfig, after: EncryptionConfig): string {
  return (Object.keys(before) as (keyof EncryptionConfig)[])
    .filter((field) => before[field] !== after[field])
    .map((field) => `${field}: ${before[field]} -> ${after[field]}`)
    .join(", ");
}

const isCipherAvailable = (db: Deps["db"]) => selectCipherVersion(db) !== undefined;
