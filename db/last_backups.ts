/** The `last_backups` table: the last backup of each stack or set of volumes at each target. @module */

import { number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const backups = table("last_backups", {
  /** E.g. `stack shop`, `volumes a, b`. */
  subject: text(),
  /** `null` for volumes. */
  stack: text<string | null>(),
  targetId: text(),
  /** End of the job; ISO 8601, UTC. */
  at: text(),
  snapshot: text(),
  /** Of its files, in bytes. */
  size: number(),
}, { key: "subject" });

export type LastBackup = Row<typeof backups>;

/** Replaces the former one of the subject at the target. */
export const replaceLastBackup = backups.replace;

/** The last backup of each stack at any target, by stack. */
export function selectLastStackBackups(db: Database): LastBackup[] {
  return backups.select(
    db,
    `AS b WHERE stack IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM last_backups AS later WHERE later.subject = b.subject
         AND (later.at, later.target_id) > (b.at, b.target_id))
     ORDER BY stack`,
  );
}

/** The last backup of a subject at a target, or at any. */
export function selectLastBackup(
  db: Database,
  { subject, targetId }: { subject: string; targetId: string | null },
): LastBackup | undefined {
  return backups.selectOne(
    db,
    "WHERE subject = :subject AND target_id = coalesce(:targetId, target_id) ORDER BY at DESC",
    { subject, targetId },
  );
}
