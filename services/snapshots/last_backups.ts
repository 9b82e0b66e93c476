/** The last backups, which are known without asking a target. @module */

import { replaceLastBackup, selectLastBackup } from "../../db/last_backups.ts";
import type { Deps } from "../deps.ts";
import type { SnapshotInput, SnapshotJob, SnapshotResult } from "./job.ts";
import { OWN_SUBJECT } from "./own/content.ts";
import type { OwnBackupInput, OwnBackupResult } from "./own/job.ts";
import type { StackRestoreJob } from "./stack/job.ts";

/** Identifies what was backed up, e.g. `stack shop`, `volumes a, b`. */
export const backupSubject = (
  { stack, volumes }: { stack: string | null; volumes: readonly string[] | null },
): string =>
  stack === null ? `volumes ${[...new Set(volumes)].sort().join(", ")}` : `stack ${stack}`;

/** Records a backup that has succeeded. */
export function recordBackup(
  { db, now }: Pick<Deps, "db" | "now">,
  { input }: Pick<SnapshotJob, "input">,
  { snapshot, size }: Pick<SnapshotResult, "snapshot" | "size">,
): void {
  const { stack, targetId }: SnapshotInput = input;
  const subject = backupSubject(input);
  replaceLastBackup(db, { subject, stack, targetId, at: now().toISOString(), snapshot, size });
}

/** Records a backup of Longshore itself. */
export function recordOwnBackup(
  { db, now }: Pick<Deps, "db" | "now">,
  { targetId }: Pick<OwnBackupInput, "targetId">,
  { snapshot, size }: Pick<OwnBackupResult, "snapshot" | "size">,
): void {
  const at = now().toISOString();
  replaceLastBackup(db, { subject: OWN_SUBJECT, stack: null, targetId, at, snapshot, size });
}

/** Records that a stack was restored: one that has moved here has its last backup from before. */
export function recordRestored(
  { db }: Pick<Deps, "db">,
  { target: stack, input: { targetId, snapshot, madeAt: at, size = 0 } }:
    & Pick<StackRestoreJob, "target">
    & { input: Pick<StackRestoreJob["input"], "targetId" | "snapshot" | "madeAt" | "size"> },
): void {
  if (at === undefined) return;
  const subject = backupSubject({ stack, volumes: null });
  const last = selectLastBackup(db, { subject, targetId });
  if (last && last.at >= at) return;
  replaceLastBackup(db, { subject, stack, targetId, at, snapshot, size });
}
