/**
 * The `outbox_messages` table: what is to be told to whom, and how far that has come.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const OUTBOX_STATUSES = ["queued", "sent", "failed"] as const;
export type OutboxStatus = (typeof OUTBOX_STATUSES)[number];

/** A message as it is written down. */
export interface NewOutboxMessage {
  /** The same at each attempt, so that a receiver can tell a repeat. */
  id: string;
  /** How it is sent, e.g. `webhook`. */
  channel: string;
  /** To whom: an id that the channel knows. */
  targetId: string;
  eventKind: string;
  /** Exactly what is sent. */
  payload: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

/** One message as stored. */
export interface OutboxMessage extends NewOutboxMessage {
  /** Rises with each message. */
  sequence: number;
  /** `null` once it is sent or given up. */
  nextAttemptAt: string | null;
  attempts: number;
  lastAttemptAt: string | null;
  status: OutboxStatus;
  /** Status of the last answer; `null` where there was none. */
  lastStatus: number | null;
  lastError: string | null;
  sentAt: string | null;
}

/** What an attempt came to. */
export interface OutboxAttempt {
  attempts: number;
  lastAttemptAt: string;
  lastStatus: number | null;
  lastError: string | null;
}

const COLUMNS = `
  sequence, id, channel, target_id AS targetId, event_kind AS eventKind, payload,
  created_at AS createdAt, next_attempt_at AS nextAttemptAt, attempts,
  last_attempt_at AS lastAttemptAt, status, last_status AS lastStatus, last_error AS lastError,
  sent_at AS sentAt`;

/** A target with messages that wait. */
export interface QueuedTarget {
  targetId: string;
  /** When the first of its messages is due. */
  dueAt: string;
}

type Target = Pick<OutboxMessage, "channel" | "targetId">;

/** Queues a message that is due at once. */
export function insertOutboxMessage(db: Database, message: NewOutboxMessage): void {
  db.run(
    `INSERT INTO outbox_messages
       (id, channel, target_id, event_kind, payload, created_at, next_attempt_at, status)
     VALUES (:id, :channel, :targetId, :eventKind, :payload, :createdAt, :createdAt, 'queued')`,
    { ...message },
  );
}

/** Every target of a channel with messages that wait; jumps from one to the next in the index. */
export function selectQueuedTargets(db: Database, channel: string): QueuedTarget[] {
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
       SELECT min(next_attempt_at) FROM outbox_messages
       WHERE status = 'queued' AND channel = :channel AND target_id = targets.id
     ) AS dueAt
     FROM targets WHERE id IS NOT NULL`,
    { channel },
  );
}

/** The message of a target that has been due for longest, or `undefined` when none is. */
export function selectDueMessage(
  db: Database,
  { channel, targetId }: Target,
  now: string,
): OutboxMessage | undefined {
  return db.get<OutboxMessage>(
    `SELECT ${COLUMNS} FROM outbox_messages
     WHERE status = 'queued' AND channel = :channel AND target_id = :targetId
       AND next_attempt_at <= :now
     ORDER BY next_attempt_at, sequence LIMIT 1`,
    { channel, targetId, now },
  );
}

/** The messages of a target, newest first. */
export function selectOutboxMessages(
  db: Database,
  { channel, targetId }: Target,
  { limit, offset }: { limit: number; offset: number },
): OutboxMessage[] {
  return db.all<OutboxMessage>(
    `SELECT ${COLUMNS} FROM outbox_messages
     WHERE channel = :channel AND target_id = :targetId
     ORDER BY sequence DESC LIMIT :limit OFFSET :offset`,
    { channel, targetId, limit, offset },
  );
}

export function countOutboxMessages(db: Database, { channel, targetId }: Target): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM outbox_messages
     WHERE channel = :channel AND target_id = :targetId`,
    { channel, targetId },
  )!.n;
}

/** Messages of every channel that wait. */
export function countQueuedMessages(db: Database): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM outbox_messages WHERE status = 'queued'",
  )!.n;
}

/** Whether at least `count` messages of a target wait. */
export function hasQueuedMessages(
  db: Database,
  { channel, targetId }: Target,
  count: number,
): boolean {
  return db.get(
    `SELECT 1 FROM outbox_messages
     WHERE status = 'queued' AND channel = :channel AND target_id = :targetId
     LIMIT 1 OFFSET :offset`,
    { channel, targetId, offset: count - 1 },
  ) !== undefined;
}

/** Whatever became of it meanwhile: it did arrive. */
export function updateMessageSent(db: Database, id: string, attempt: OutboxAttempt): void {
  db.run(
    `UPDATE outbox_messages
     SET status = 'sent', next_attempt_at = NULL, sent_at = :lastAttemptAt, attempts = :attempts,
       last_attempt_at = :lastAttemptAt, last_status = :lastStatus, last_error = :lastError
     WHERE id = :id`,
    { id, ...attempt },
  );
}

/** Leaves a message alone that was given up meanwhile. */
export function updateMessageRetry(
  db: Database,
  id: string,
  attempt: OutboxAttempt & { nextAttemptAt: string },
): void {
  db.run(
    `UPDATE outbox_messages
     SET next_attempt_at = :nextAttemptAt, attempts = :attempts, last_attempt_at = :lastAttemptAt,
       last_status = :lastStatus, last_error = :lastError
     WHERE id = :id AND status = 'queued'`,
    { id, ...attempt },
  );
}

/** Gives a message up after an attempt. */
export function updateMessageFailed(db: Database, id: string, attempt: OutboxAttempt): void {
  db.run(
    `UPDATE outbox_messages
     SET status = 'failed', next_attempt_at = NULL, attempts = :attempts,
       last_attempt_at = :lastAttemptAt, last_status = :lastStatus, last_error = :lastError
     WHERE id = :id AND status = 'queued'`,
    { id, ...attempt },
  );
}

/** Gives up whatever of a target waits. @returns How many messages that were. */
export function updateQueuedFailed(
  db: Database,
  { channel, targetId }: Target,
  lastError: string,
): number {
  return db.run(
    `UPDATE outbox_messages SET status = 'failed', next_attempt_at = NULL, last_error = :lastError
     WHERE status = 'queued' AND channel = :channel AND target_id = :targetId`,
    { channel, targetId, lastError },
  );
}

/** Gives up the oldest message of a target that waits. */
export function updateOldestQueuedFailed(
  db: Database,
  { channel, targetId }: Target,
  lastError: string,
): void {
  db.run(
    `UPDATE outbox_messages SET status = 'failed', next_attempt_at = NULL, last_error = :lastError
     WHERE sequence = (
       SELECT sequence FROM outbox_messages
       WHERE status = 'queued' AND channel = :channel AND target_id = :targetId
       ORDER BY next_attempt_at, sequence LIMIT 1
     )`,
    { channel, targetId, lastError },
  );
}

/** Everything of a target, also what waits. */
export function deleteOutboxMessages(db: Database, { channel, targetId }: Target): number {
  return db.run(
    "DELETE FROM outbox_messages WHERE channel = :channel AND target_id = :targetId",
    { channel, targetId },
  );
}

/** Also what waits: its channel has not been served for all that time. @returns How many went. */
export function deleteOutboxMessagesBefore(db: Database, createdAt: string): number {
  return db.run("DELETE FROM outbox_messages WHERE created_at < :createdAt", { createdAt });
}

/** Of what is sent or given up, all but the newest of each target. @returns How many went. */
export function deleteSurplusOutboxMessages(db: Database, keptPerTarget: number): number {
  return db.run(
    `DELETE FROM outbox_messages WHERE sequence IN (
       SELECT sequence FROM (
         SELECT sequence, row_number() OVER (
           PARTITION BY channel, target_id ORDER BY sequence DESC
         ) AS place
         FROM outbox_messages WHERE status <> 'queued'
       ) WHERE place > :keptPerTarget
     )`,
    { keptPerTarget },
  );
}
