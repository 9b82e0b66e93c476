/**
 * The `notification_groups` table: which events of a cause a receiver got, and which are held
 * back.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** A receiver of the outbox, and what its messages are about. */
export interface GroupKey {
  channel: string;
  targetId: string;
  cause: string;
}

/** The state is JSON; times are ISO 8601, UTC. */
export interface NotificationGroup extends GroupKey {
  state: string;
  /** When the next message is due; `null` for none. */
  dueAt: string | null;
  updatedAt: string;
}

const COLUMNS = "channel, target_id AS targetId, cause, state, due_at AS dueAt, " +
  "updated_at AS updatedAt";

export function selectGroup(db: Database, key: GroupKey): NotificationGroup | undefined {
  return db.get<NotificationGroup>(
    `SELECT ${COLUMNS} FROM notification_groups
     WHERE channel = :channel AND target_id = :targetId AND cause = :cause`,
    { ...key },
  );
}

/** The groups of a receiver with a message that is not yet due. */
export function selectWaitingGroups(
  db: Database,
  { channel, targetId }: Pick<GroupKey, "channel" | "targetId">,
): NotificationGroup[] {
  return db.all<NotificationGroup>(
    `SELECT ${COLUMNS} FROM notification_groups
     WHERE channel = :channel AND target_id = :targetId AND due_at IS NOT NULL`,
    { channel, targetId },
  );
}

/** All groups that contain a text, e.g. the name of a container. */
export function selectGroupsWith(db: Database, text: string): NotificationGroup[] {
  return db.all<NotificationGroup>(
    `SELECT ${COLUMNS} FROM notification_groups WHERE instr(cause || state, :text)`,
    { text },
  );
}

/** The groups of a channel whose message is due, longest wait first, at most `limit`. */
export function selectDueGroups(
  db: Database,
  channel: string,
  now: string,
  limit: number,
): NotificationGroup[] {
  return db.all<NotificationGroup>(
    `SELECT ${COLUMNS} FROM notification_groups
     WHERE channel = :channel AND due_at <= :now ORDER BY due_at, rowid LIMIT :limit`,
    { channel, now, limit },
  );
}

/** When the next message of a channel is due. */
export function selectNextGroupDueAt(db: Database, channel: string): string | null {
  return db.get<{ dueAt: string | null }>(
    // Without the second condition the index of the waiting groups is not used.
    `SELECT min(due_at) AS dueAt FROM notification_groups
     WHERE channel = :channel AND due_at IS NOT NULL`,
    { channel },
  )!.dueAt;
}

/** Whether a problem whose beginning was sent to a receiver has not ended. */
export function hasOpenGroup(
  db: Database,
  { channel, targetId }: Pick<GroupKey, "channel" | "targetId">,
): boolean {
  return db.get(
    `SELECT 1 FROM notification_groups
     WHERE channel = :channel AND target_id = :targetId AND state ->> '$.open' <> '{}' LIMIT 1`,
    { channel, targetId },
  ) !== undefined;
}

/** Inserts a group, or updates the one with its key. */
export function upsertGroup(db: Database, group: NotificationGroup): void {
  db.run(
    `INSERT INTO notification_groups (channel, target_id, cause, state, due_at, updated_at)
     VALUES (:channel, :targetId, :cause, :state, :dueAt, :updatedAt)
     ON CONFLICT DO UPDATE SET
       state = excluded.state, due_at = excluded.due_at, updated_at = excluded.updated_at`,
    { ...group },
  );
}

export function deleteGroup(db: Database, { channel, targetId, cause }: GroupKey): void {
  db.run(
    `DELETE FROM notification_groups
     WHERE channel = :channel AND target_id = :targetId AND cause = :cause`,
    { channel, targetId, cause },
  );
}

/** Deletes the groups of a receiver. */
export function deleteGroupsOf(
  db: Database,
  { channel, targetId }: Pick<GroupKey, "channel" | "targetId">,
): void {
  db.run(
    "DELETE FROM notification_groups WHERE channel = :channel AND target_id = :targetId",
    { channel, targetId },
  );
}

/** Deletes the groups that have not changed since a time. */
export function deleteGroupsBefore(db: Database, updatedAt: string): void {
  db.run("DELETE FROM notification_groups WHERE updated_at < :updatedAt", { updatedAt });
}
