/** Snapshots in words, and the addresses of their pages. @module */

import type { BackupSnapshot, BackupSnapshotList } from "../../api/types.ts";
import { relativeTime } from "../../base/text.ts";
import { now } from "../../components/time.tsx";

/** Characters of an id, as restic shows it. */
const SHORT_ID = 8;

export const shortId = (id: string): string => id.slice(0, SHORT_ID);

/** The engine's names of volumes that were created without one. */
const ANONYMOUS = /^[0-9a-f]{64}$/;

export const isAnonymous = (volume: string): boolean => ANONYMOUS.test(volume);

/** Names that the engine has made up are cut. */
export const volumeName = (volume: string): string =>
  isAnonymous(volume) ? volume.slice(0, 12) : volume;

const REASONS: Record<string, string> = {
  manual: "By hand",
  schedule: "Schedule",
  update: "Before an update",
  undo: "Before data was replaced",
};

/** Reason in words; snapshots of other programs have none. */
export const reasonOf = ({ reason }: Pick<BackupSnapshot, "reason">): string =>
  reason === null ? "Other program" : REASONS[reason] ?? reason;

/** The stack, otherwise the volumes or directories. */
export function contentOf(
  { stack, volumes, directories, hasLongshore, tags }: Pick<
    BackupSnapshot,
    "stack" | "volumes" | "directories" | "hasLongshore" | "tags"
  >,
): string {
  if (stack !== null) return stack;
  if (hasLongshore) return "Longshore";
  const parts = [...volumes.map(volumeName), ...directories];
  return parts.join(", ") || tags.join(", ") || "Files";
}

/** Whether there is a stack or a volume to restore. */
export const isRestorable = (
  { hasStack, volumes }: Pick<BackupSnapshot, "hasStack" | "volumes">,
): boolean => hasStack || volumes.length > 0;

/** Reasons of snapshots that keep what an update or a restore replaces. */
const KEPT: readonly (string | null)[] = ["update", "undo"];

const isBackup = ({ isOwn, reason }: BackupSnapshot): boolean => isOwn && !KEPT.includes(reason);

/**
 * The newest backup of a stack that this host has made, or that the stack moved here with. Hosts of
 * earlier versions do not name the latter.
 */
export const lastStackBackup = (
  { snapshots }: BackupSnapshotList,
  stack: string,
): BackupSnapshot | undefined =>
  snapshots.find((each) =>
    each.lastBackupOf?.includes(stack) || isBackup(each) && each.stack === stack
  );

/** The newest backup that this host has made of a volume without a stack. */
export const lastVolumeBackup = (
  { snapshots }: BackupSnapshotList,
  volume: string,
): BackupSnapshot | undefined =>
  snapshots.find((each) => isBackup(each) && each.stack === null && each.volumes.includes(volume));

/** E.g. `shop, 3 h ago`. */
export const titleOf = (snapshot: BackupSnapshot): string =>
  `${contentOf(snapshot)}, ${relativeTime(Date.parse(snapshot.time), now.value)}`;

/** The page of a snapshot. */
export function snapshotPath(
  { id, target }: { id: string; target: string },
  more: Record<string, string> = {},
): string {
  return `/backups/snapshots/${id}?${new URLSearchParams({ target, ...more })}`;
}
