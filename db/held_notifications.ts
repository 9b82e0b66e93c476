/**
 * The `held_notifications` table: messages that wait for the end of the quiet hours or for the next
 * digest of their channel.
 *
 * @module
 */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const held = table("held_notifications", {
  /** Increases with each message. */
  id: number(),
  channelId: text(),
  /** Of the problem that it is about. */
  thread: text(),
  /** A `NotificationMessage`. */
  message: json<object>(),
  /** ISO 8601, UTC. */
  heldAt: text(),
});

/** A message as it waits. */
type HeldNotification = Row<typeof held>;

/** Oldest first. */
export function selectHeldNotifications(db: Database, channelId: string): HeldNotification[] {
  return held.select(db, "WHERE channel_id = :channelId ORDER BY id", { channelId });
}

/** The channels for which messages wait, each with the oldest time. */
export function selectHoldingChannels(db: Database): { channelId: string; heldAt: string }[] {
  return db.all(
    `SELECT channel_id AS channelId, min(held_at) AS heldAt
     FROM held_notifications GROUP BY channel_id`,
  );
}

/** Holds a message; beyond `max`, the oldest one of the channel is dropped. */
export function insertHeldNotification(
  db: Database,
  message: Omit<HeldNotification, "id">,
  max: number,
): void {
  held.insertFields(db, message);
  db.run(
    `DELETE FROM held_notifications WHERE id = (
       SELECT id FROM held_notifications WHERE channel_id = :channelId
       ORDER BY id DESC LIMIT 1 OFFSET :max
     )`,
    { channelId: message.channelId, max },
  );
}

/** Whether a message of a problem waits for a channel. */
export function isThreadHeld(
  db: Database,
  { channelId, thread }: Pick<HeldNotification, "channelId" | "thread">,
): boolean {
  return held.selectOne(db, "WHERE channel_id = :channelId AND thread = :thread LIMIT 1", {
    channelId,
    thread,
  }) !== undefined;
}

export function deleteHeldNotifications(db: Database, channelId: string): void {
  db.run("DELETE FROM held_notifications WHERE channel_id = :channelId", { channelId });
}
