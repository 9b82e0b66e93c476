/**
 * The `outbox_messages` table: notifications to deliver, with the state of each delivery.
 *
 * @module
 */

import { number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Page } from "./page.ts";

export const OUTBOX_STATUSES = ["queued", "sent", "failed"] as const;
export type OutboxStatus = (typeof OUTBOX_STATUSES)[number];

const messages = table("outbox_messages", {
  /** Increases with each message. */
  sequence: number(),
  /** The same at each attempt, so that a receiver can detect duplicates. */
  id: text(),
  /** Kind of receiver, e.g. `webhook`. */
  channel: text(),
  /** The recipient: an id that the channel knows. */
  targetId: text(),
  eventKind: text(),
  /** The body as sent. */
  payload: text(),
  createdAt: text(),
  /** `null` once the message is sent or given up. */
  nextAttemptAt: text<string | null>(),
  attempts: number(),
  lastAttemptAt: text<string | null>(),
  status: text<OutboxStatus>(),
  /** HTTP status of the last response; `null` without one. */
  lastStatus: number<number | null>(),
  lastError: text<string | null>(),
  sentAt: text<string | null>(),
}, { order: "sequence DESC" });

/** One message as stored. Times are ISO 8601, UTC. */
export type OutboxMessage = Row<typeof messages>;

/** A message as it is queued. */
export type NewOutboxMessage = Pick<
  OutboxMessage,
  "id" | "channel" | "targetId" | "eventKind" | "payload" | "createdAt"
>;

/** The result of an attempt. */
export type OutboxAttempt =
  & Pick<OutboxMessage, "attempts" | "lastStatus" | "lastError">
  & { lastAttemptAt: string };

/** A target with queued messages. */
interface QueuedTarget {
  targetId: string;
  /** When the first of its messages is due. */
  dueAt: string;
}

type Target = Pick<OutboxMessage, "channel" | "targetId">;

const OF_TARGET = "channel = :channel AND target_id = :targetId";

const QUEUED = `status = 'queued' AND ${OF_TARGET}`;

/** Gives messages up without another attempt. */
const GIVE_UP = `UPDATE outbox_messages
  SET status = 'failed', next_attempt_at = NULL, last_error = :lastError`;

export const { find: selectOutboxMessage } = messages;

/** Queues a message. @param dueAt Default: at once. */
export function insertOutboxMessage(
  db: Database,
  message: NewOutboxMessage,
  dueAt = message.createdAt,
): void {
  messages.insertFields(db, { ...message, nextAttemptAt: dueAt, status: "queued" });
}

/**
 * All targets of a channel with queued messages; jumps from one to the next in the index.
 *
 * @param isOrdered Whether a message waits for those before it.
 */
export function selectQueuedTargets(
  db: Database,
  channel: string,
  isOrdered = false,
): QueuedTarget[] {
  return db.all<QueuedTarget>(
    `WITH RECURSIVE targets (id) AS (
       SELECT min(target_id) FROM outbox_messages WHERE status = 'queued' AND channel = :channel
       UNION ALL
       SELECT (
         SELECT min(target_id) FROM outbox_messages
         WHERE status = 'queued' AND channel = :channel AND target_id > targets.id
       ) FROM targets WHERE targets.id IS NOT NULL
     )
     SELECT id AS targetId, (
       SELECT next_attempt_at FROM outbox_messages
       WHERE status = 'queued' AND channel = :channel AND target_id = targets.id
       ORDER BY ${isOrdered ? "sequence" : "next_attempt_at"} LIMIT 1
     ) AS dueAt
     FROM targets WHERE id IS NOT NULL`,
    { channel },
  );
}

/** The message of a target that has been due for longest, or `undefined` when none is due. */
export function selectDueMessage(
  db: Database,
  { channel, targetId }: Target,
  now: string,
): OutboxMessage | undefined {
  return messages.selectOne(
    db,
    `WHERE ${QUEUED} AND next_attempt_at <= :now ORDER BY next_attempt_at, sequence LIMIT 1`,
    { channel, targetId, now },
  );
}

/** The first message of a target that is still queued, unless it is not yet due. */
export function selectFirstMessage(
  db: Database,
  { channel, targetId }: Target,
  now: string,
): OutboxMessage | undefined {
  return messages.selectOne(
    db,
    `WHERE next_attempt_at <= :now AND sequence = (
       SELECT min(sequence) FROM outbox_messages WHERE ${QUEUED}
     )`,
    { channel, targetId, now },
  );
}

/** The messages of a target, newest first. */
export function selectOutboxMessages(
  db: Database,
  { channel, targetId }: Target,
  page: Page,
): OutboxMessage[] {
  return messages.page(db, page, `WHERE ${OF_TARGET}`, { channel, targetId });
}

export function countOutboxMessages(db: Database, { channel, targetId }: Target): number {
  return messages.countWhere(db, `WHERE ${OF_TARGET}`, { channel, targetId });
}

/** Whether at least `count` messages of a target were queued since a time; reads only one of them. */
export function hasMessagesSince(
  db: Database,
  { channel, targetId }: Target,
  since: string,
  count: number,
): boolean {
  return db.get(
    `SELECT 1 FROM (
       SELECT created_at FROM outbox_messages WHERE ${OF_TARGET}
       ORDER BY sequence DESC LIMIT 1 OFFSET :offset
     ) WHERE created_at > :since`,
    { channel, targetId, since, offset: count - 1 },
  ) !== undefined;
}

/** The last queued message of a target about a kind of event. */
export function selectQueuedMessage(
  db: Database,
  { channel, targetId }: Target,
  eventKind: string,
): Pick<OutboxMessage, "id" | "payload"> | undefined {
  return db.get(
    `SELECT id, payload FROM outbox_messages
     WHERE ${QUEUED} AND event_kind = :eventKind ORDER BY sequence DESC LIMIT 1`,
    { channel, targetId, eventKind },
  );
}

/** The last message of a thread, which is named in the JSON of the payload. */
export function selectThreadMessage(
  db: Database,
  { channel, targetId, thread }: Target & { thread: string },
): OutboxMessage | undefined {
  return messages.selectOne(
    db,
    `WHERE ${OF_TARGET} AND payload ->> '$.thread' = :thread ORDER BY sequence DESC LIMIT 1`,
    { channel, targetId, thread },
  );
}

/** Changes what a queued message says. */
export function updateMessagePayload(db: Database, id: string, payload: string): void {
  messages.update(db, id, { payload }, "status = 'queued'");
}

/** Gives up the queued messages of a thread, which is named in the JSON of their payload. */
export function updateThreadSuperseded(
  db: Database,
  { channel, targetId, thread }: Target & { thread: string },
  lastError: string,
): void {
  db.run(`${GIVE_UP} WHERE ${QUEUED} AND payload ->> '$.thread' = :thread`, {
    channel,
    targetId,
    thread,
    lastError,
  });
}

/** Queued messages of all channels. */
export function countQueuedMessages(db: Database): number {
  return messages.countWhere(db, "WHERE status = 'queued'");
}

/** When the oldest queued message of all channels was queued; `undefined` if none is. */
export function selectOldestQueued(db: Database): string | undefined {
  return db.get<{ at: string | null }>(
    "SELECT min(created_at) AS at FROM outbox_messages WHERE status = 'queued'",
  )!.at ?? undefined;
}

/** Whether a target has at least `count` queued messages. */
export function hasQueuedMessages(
  db: Database,
  { channel, targetId }: Target,
  count: number,
): boolean {
  return db.get(
    `SELECT 1 FROM outbox_messages WHERE ${QUEUED} LIMIT 1 OFFSET :offset`,
    { channel, targetId, offset: count - 1 },
  ) !== undefined;
}

/** Also a message that was given up in the meantime: it was delivered after all. */
export function updateMessageSent(db: Database, id: string, attempt: OutboxAttempt): void {
  messages.update(db, id, {
    ...attempt,
    status: "sent",
    nextAttemptAt: null,
    sentAt: attempt.lastAttemptAt,
  });
}

/** Postpones a message that was not tried. @param nextAttemptAt ISO 8601, UTC. */
export function updateMessageDue(db: Database, id: string, nextAttemptAt: string): void {
  messages.update(db, id, { nextAttemptAt }, "status = 'queued'");
}

/** Schedules the next attempt, unless the message was given up in the meantime. */
export function updateMessageRetry(
  db: Database,
  id: string,
  attempt: OutboxAttempt & { nextAttemptAt: string },
): void {
  messages.update(db, id, attempt, "status = 'queued'");
}

/** Gives a message up after an attempt. */
export function updateMessageFailed(db: Database, id: string, attempt: OutboxAttempt): void {
  messages.update(
    db,
    id,
    { ...attempt, status: "failed", nextAttemptAt: null },
    "status = 'queued'",
  );
}

/** Gives up all queued messages of a target. @returns How many. */
export function updateQueuedFailed(
  db: Database,
  { channel, targetId }: Target,
  lastError: string,
): number {
  return db.run(`${GIVE_UP} WHERE ${QUEUED}`, { channel, targetId, lastError });
}

/** Gives up the queued message of a target that is due first. */
export function updateOldestQueuedFailed(
  db: Database,
  { channel, targetId }: Target,
  lastError: string,
): void {
  db.run(
    `${GIVE_UP} WHERE sequence = (
       SELECT sequence FROM outbox_messages WHERE ${QUEUED}
       ORDER BY next_attempt_at, sequence LIMIT 1
     )`,
    { channel, targetId, lastError },
  );
}

/** Deletes all messages of a target, including the queued ones. @returns How many were deleted. */
export function deleteOutboxMessages(db: Database, { channel, targetId }: Target): number {
  return db.run(`DELETE FROM outbox_messages WHERE ${OF_TARGET}`, { channel, targetId });
}

/**
 * Deletes messages created before a time, including the queued ones, whose channel has not been
 * served since then.
 *
 * @returns How many were deleted.
 */
export function deleteOutboxMessagesBefore(db: Database, createdAt: string): number {
  return db.run("DELETE FROM outbox_messages WHERE created_at < :createdAt", { createdAt });
}

/**
 * Deletes the sent and failed messages beyond the newest of each target.
 *
 * @returns How many were deleted.
 */
export function deleteSurplusOutboxMessages(db: Database, keepPerTarget: number): number {
  return db.run(
    `DELETE FROM outbox_messages WHERE sequence IN (
       SELECT sequence FROM (
         SELECT sequence, row_number() OVER (
           PARTITION BY channel, target_id ORDER BY sequence DESC
         ) AS place
         FROM outbox_messages WHERE status <> 'queued'
       ) WHERE place > :keepPerTarget
     )`,
    { keepPerTarget },
  );
}
