/**
 * The `notification_groups` table: which events of a cause a receiver got, and which are held
 * back.
 *
 * @module
 */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const groups = table("notification_groups", {
  channel: text(),
  targetId: text(),
  cause: text(),
  /** JSON. */
  state: text(),
  /** When the next message is due; `null` for none. */
  dueAt: text<string | null>(),
  updatedAt: text(),
});

/** Times are ISO 8601, UTC. */
export type NotificationGroup = Row<typeof groups>;

/** A receiver of the outbox, and what its messages are about. */
export type GroupKey = Pick<NotificationGroup, "channel" | "targetId" | "cause">;

type Receiver = Pick<GroupKey, "channel" | "targetId">;

const OF_RECEIVER = "WHERE channel = :channel AND target_id = :targetId";

export function selectGroup(db: Database, key: GroupKey): NotificationGroup | undefined {
  return groups.selectOne(db, `${OF_RECEIVER} AND cause = :cause`, { ...key });
}

/** The groups of a receiver with a message that is not yet due. */
export function selectWaitingGroups(
  db: Database,
  { channel, targetId }: Receiver,
): NotificationGroup[] {
  return groups.select(db, `${OF_RECEIVER} AND due_at IS NOT NULL`, { channel, targetId });
}

/** All groups that contain a text, e.g. the name of a container. */
export function selectGroupsWith(db: Database, text: string): NotificationGroup[] {
  return groups.select(db, "WHERE instr(cause || state, :text)", { text });
}

/** The groups of a channel whose message is due, longest wait first, at most `limit`. */
export function selectDueGroups(
  db: Database,
  channel: string,
  now: string,
  limit: number,
): NotificationGroup[] {
  return groups.select(
    db,
    "WHERE channel = :channel AND due_at <= :now ORDER BY due_at, rowid LIMIT :limit",
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
export function hasOpenGroup(db: Database, { channel, targetId }: Receiver): boolean {
  return groups.selectOne(db, `${OF_RECEIVER} AND state ->> '$.open' <> '{}' LIMIT 1`, {
    channel,
    targetId,
  }) !== undefined;
}

/** Inserts a group, or updates the one with its key. */
export function upsertGroup(db: Database, group: NotificationGroup): void {
  groups.insertFields(
    db,
    group,
    `ON CONFLICT DO UPDATE SET
       state = excluded.state, due_at = excluded.due_at, updated_at = excluded.updated_at`,
  );
}

export function deleteGroup(db: Database, { channel, targetId, cause }: GroupKey): void {
  db.run(`DELETE FROM notification_groups ${OF_RECEIVER} AND cause = :cause`, {
    channel,
    targetId,
    cause,
  });
}

/** Deletes the groups of a receiver. */
export function deleteGroupsOf(db: Database, { channel, targetId }: Receiver): void {
  db.run(`DELETE FROM notification_groups ${OF_RECEIVER}`, { channel, targetId });
}

/** Deletes the groups that have not changed since a time. */
export function deleteGroupsBefore(db: Database, updatedAt: string): void {
  db.run("DELETE FROM notification_groups WHERE updated_at < :updatedAt", { updatedAt });
}
