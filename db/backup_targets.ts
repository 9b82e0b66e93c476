/** The `backup_targets` table: repositories that snapshots go to. @module */

import { boolean, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const targets = table("backup_targets", {
  id: text(),
  name: text(),
  /** A directory, `s3:URL` or `rest:URL`, in its one spelling. */
  location: text(),
  /** At most one is the default. */
  isDefault: boolean(),
  /** Of an S3 target. */
  accessKeyId: text<string | null>(),
  region: text<string | null>(),
  /** Of a REST target. */
  username: text<string | null>(),
  /** PEM; one or more certificates. */
  caCertificate: text<string | null>(),
  /** Encrypted JSON: passwords and keys. */
  sealedSecrets: text(),
  /** Last test of the connection; ISO 8601, UTC. */
  lastTestAt: text<string | null>(),
  /** `null` if it succeeded. */
  lastTestError: text<string | null>(),
  /** Last check of the repository. */
  lastCheckAt: text<string | null>(),
  lastCheckError: text<string | null>(),
  createdAt: text(),
  updatedAt: text(),
}, { order: "name" });

/** One target as stored. */
export type StoredTarget = Row<typeof targets>;

export const {
  find: selectBackupTarget,
  count: countBackupTargets,
  /** Throws a unique violation if the name or location is in use. */
  insert: insertBackupTarget,
  /** Throws a unique violation if the name or location is in use. */
  save: updateBackupTarget,
  delete: deleteBackupTarget,
  /** All targets by name. */
  all: selectBackupTargets,
  /** Changes some fields, e.g. the outcome of a test. */
  update: updateBackupTargetFields,
} = targets;

export function selectDefaultBackupTarget(db: Database): StoredTarget | undefined {
  return targets.selectOne(db, "WHERE is_default = 1");
}

/** Makes no target the default. */
export function clearDefaultBackupTarget(db: Database): void {
  db.run("UPDATE backup_targets SET is_default = 0 WHERE is_default = 1");
}
