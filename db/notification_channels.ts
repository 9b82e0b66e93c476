/**
 * The `notification_channels` and `notification_threads` tables: where people are notified.
 *
 * @module
 */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

/** Lowest first. */
export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A daily time in which a channel gets only what is important. */
export interface QuietHours {
  /** Times of day as clocks in the time zone show them, e.g. `22:00`. */
  from: string;
  to: string;
  /** IANA name. */
  timeZone: string;
  /** Messages from this severity on are sent nevertheless; `null`: none. */
  exceptSeverity: Severity | null;
}

const channels = table("notification_channels", {
  id: text(),
  name: text(),
  /** E.g. `ntfy`. */
  kind: text(),
  /** The config, encrypted. */
  sealed: text(),
  /** Event kinds; `*` stands for all. */
  events: json<string[]>(),
  minSeverity: text<Severity>(),
  /** Patterns of names, e.g. `web*`; `null` stands for all containers and everything else. */
  containers: json<string[] | null>(),
  /** Patterns of names of stacks; `null` stands for all containers and everything else. */
  stacks: json<string[] | null>(),
  quietHours: json<QuietHours | null>(),
  /** Minutes from a message to the digest that has it; 0: messages are sent at once. */
  digestMinutes: number(),
  enabled: boolean(),
  createdAt: text(),
  updatedAt: text(),
  lastDeliveryAt: text<string | null>(),
  /** Of the last attempt; `null` after a message was sent. */
  lastError: text<string | null>(),
  /** When the first attempt failed since a message was sent. */
  failingSince: text<string | null>(),
  /** When the other channels were told that it fails; `null` after they were told that it works. */
  failingReportedAt: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One channel as stored. Times are ISO 8601, UTC. */
export type StoredNotificationChannel = Row<typeof channels>;

type DeliveryState = Pick<
  StoredNotificationChannel,
  "failingReportedAt" | "failingSince" | "lastDeliveryAt" | "lastError"
>;

export const {
  find: selectNotificationChannel,
  count: countNotificationChannels,
  /** Also deletes its threads. */
  delete: deleteNotificationChannel,
  /** All channels, newest first. */
  all: selectNotificationChannels,
} = channels;

/** The enabled channels, oldest first. */
export function selectEnabledNotificationChannels(db: Database): StoredNotificationChannel[] {
  return channels.select(db, "WHERE enabled = 1 ORDER BY created_at, id");
}

export function insertNotificationChannel(
  db: Database,
  channel: Omit<StoredNotificationChannel, keyof DeliveryState>,
): void {
  channels.insertFields(db, channel);
}

/** @returns Whether the id was known. */
export function updateNotificationChannel(
  db: Database,
  id: string,
  changes: Partial<StoredNotificationChannel>,
): boolean {
  return channels.update(db, id, changes);
}

interface Thread {
  channelId: string;
  thread: string;
}

/** Id of a thread's first message on the platform; `undefined` if it is not known. */
export function selectThreadReference(db: Database, key: Thread): string | undefined {
  return db.get<{ reference: string }>(
    `SELECT reference FROM notification_threads
     WHERE channel_id = :channelId AND thread = :thread`,
    { ...key },
  )?.reference;
}

/** Keeps the reference of the first message. */
export function insertThreadReference(
  db: Database,
  thread: Thread & { reference: string; createdAt: string },
): void {
  db.run(
    `INSERT INTO notification_threads (channel_id, thread, reference, created_at)
     VALUES (:channelId, :thread, :reference, :createdAt) ON CONFLICT DO NOTHING`,
    { ...thread },
  );
}

export function deleteThreadReference(db: Database, key: Thread): void {
  db.run(
    "DELETE FROM notification_threads WHERE channel_id = :channelId AND thread = :thread",
    { ...key },
  );
}

/** Deletes the threads that began before a time. */
export function deleteThreadReferencesBefore(db: Database, createdAt: string): void {
  db.run("DELETE FROM notification_threads WHERE created_at < :createdAt", { createdAt });
}
