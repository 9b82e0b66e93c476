/**
 * The outbox: messages are stored in the transaction of their cause, and sent until they are
 * delivered or given up. After a crash a message may be sent again, with the same id.
 *
 * @module
 */

import {
  countQueuedMessages,
  deleteOutboxMessagesBefore,
  deleteSurplusOutboxMessages,
  hasQueuedMessages,
  insertOutboxMessage,
  type NewOutboxMessage,
  selectDueMessage,
  selectFirstMessage,
  selectOutboxMessage,
  selectQueuedTargets,
  updateMessageDue,
  updateMessageFailed,
  updateMessageRetry,
  updateMessageSent,
  updateOldestQueuedFailed,
  updateQueuedFailed,
} from "../../db/outbox_messages.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { includesEdition } from "../edition.ts";
import { errorFields } from "../log.ts";
import type {
  ChannelDeps,
  OutboxAttempt,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "./outbox_channel.ts";
import { outcomeOfError } from "./outbox_outcome.ts";

/** Delays between attempts, in milliseconds; after the last one a message is given up. */
const OUTBOX_RETRY_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** Maximum number of concurrent attempts. Each target has one at a time, to keep the order. */
const PARALLEL_MAX = 32;

/** Of these, the maximum for targets whose last attempt failed, so that others are not starved. */
const PARALLEL_FAILING_MAX = 16;

/** Random share of the delay, so that retries after an outage do not come all at once. */
const JITTER = 0.1;

/** Maximum delay that a receiver can request (`Retry-After`), in milliseconds. */
const AFTER_MS_MAX = 3_600_000;

/** Maximum number of queued messages per target; the oldest is dropped for a new one. */
const QUEUED_MAX = 10_000;

/** Limits of the finished messages that are kept per target, by number and by age. */
const KEPT_PER_TARGET = 1_000;
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const ERROR_MAX = 500;

/**
 * Stores a message and wakes the deliverer. Must be called in the transaction of its cause.
 *
 * @param delayMs How long it waits before the first attempt.
 * @returns The message id, which the receiver sees.
 */
export function enqueueMessage(
  { db, now, outbox }: Pick<Deps, "db" | "now" | "outbox">,
  message: Omit<NewOutboxMessage, "id" | "createdAt">,
  delayMs = 0,
): string {
  if (hasQueuedMessages(db, message, QUEUED_MAX)) {
    updateOldestQueuedFailed(db, message, `More than ${QUEUED_MAX} messages were waiting`);
  }
  const id = crypto.randomUUID();
  const at = now();
  insertOutboxMessage(
    db,
    { ...message, id, createdAt: at.toISOString() },
    new Date(at.getTime() + delayMs).toISOString(),
  );
  outbox.notify();
  return id;
}

/**
 * Queues a sent or failed message of a channel again.
 *
 * @returns The new message id.
 * @throws {AppError} `not_found`; `conflict` if it is still queued.
 */
export function replayMessage(
  deps: Pick<Deps, "db" | "now" | "outbox">,
  channel: string,
  id: string,
): string {
  const message = selectOutboxMessage(deps.db, id);
  if (message?.channel !== channel) throw notFound("Delivery", id);
  const { targetId, eventKind, payload, status } = message;
  if (status === "queued") throw new AppError("conflict", "The message is still queued");
  return enqueueMessage(deps, { channel, targetId, eventKind, payload });
}

/** Returns the number of queued messages of all channels. */
export function outboxDepth({ db }: Pick<Deps, "db">): number {
  return countQueuedMessages(db);
}

/** Deletes finished messages that are too old or too many. */
export function sweepOutbox({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteOutboxMessagesBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteSurplusOutboxMessages(db, KEPT_PER_TARGET);
}

export interface Deliverer {
  /**
   * Starts sending due messages, up to the limits.
   *
   * @returns Time until the next message is due, in milliseconds; `undefined` if the queue is empty
   * or every queued message waits for a running attempt.
   * @throws What the database threw at the end of an earlier attempt.
   */
  start(): number | undefined;
  /** Number of running attempts. */
  readonly busy: number;
  /** Resolves when no attempt is running. */
  idle(): Promise<void>;
}

/**
 * Creates the deliverer of all licensed channels.
 *
 * @param options.signal Aborts running attempts; their messages are sent after the next start.
 * @param options.retryMs Delays between attempts; default: those of the channel, or
 * {@linkcode OUTBOX_RETRY_MS}.
 */
export function createDeliverer(
  deps: Deps,
  { signal, retryMs }: { signal: AbortSignal; retryMs?: readonly number[] },
): Deliverer {
  const running = new Map<string, { isDoubtful: boolean; attempt: Promise<void> }>();
  /** Targets whose last attempt failed. */
  const failing = new Set<string>();
  let broken: { error: unknown } | undefined;

  const begin = (
    key: string,
    channel: OutboxChannel,
    message: OutboxMessage,
    isDoubtful: boolean,
  ) => {
    const attempt = deliver(deps, channel, message, {
      signal,
      retryMs: retryMs ?? channel.retryMs ?? OUTBOX_RETRY_MS,
    }).then(
      (isSent) => void (isSent ? failing.delete(key) : failing.add(key)),
      (error) => broken = { error },
    ).then(() => {
      running.delete(key);
      deps.outbox.notify();
    });
    running.set(key, { isDoubtful, attempt });
  };

  return {
    start() {
      if (broken) throw broken.error;
      const nowMs = deps.now().getTime();
      let doubtful = [...running.values()].filter(({ isDoubtful }) => isDoubtful).length;
      let nextMs = collectMessages(deps);
      for (const { channel, targetId, dueAt } of queuedTargets(deps)) {
        if (signal.aborted || running.size >= PARALLEL_MAX) break;
        const key = `${channel.name} ${targetId}`;
        if (running.has(key)) continue;
        const dueInMs = Date.parse(dueAt) - nowMs;
        if (dueInMs > 0) {
          nextMs = Math.min(nextMs ?? Infinity, dueInMs);
          break;
        }
        const target = { channel: channel.name, targetId };
        const select = channel.isOrdered ? selectFirstMessage : selectDueMessage;
        const message = select(deps.db, target, new Date(nowMs).toISOString());
        if (!message) continue;
        // Failed attempts before the last start are counted in the message.
        const isDoubtful = failing.has(key) || message.attempts > 0;
        if (isDoubtful && doubtful >= PARALLEL_FAILING_MAX) continue;
        if (isDoubtful) doubtful++;
        begin(key, channel, message, isDoubtful);
      }
      return nextMs;
    },
    get busy() {
      return running.size;
    },
    async idle() {
      while (running.size) await Promise.all([...running.values()].map(({ attempt }) => attempt));
    },
  };
}

/**
 * Queues what waited until now.
 *
 * @returns Time until more is due, in milliseconds; `undefined` if nothing waits.
 */
function collectMessages(deps: Deps): number | undefined {
  const waits = licensedChannels(deps).flatMap((channel) => channel.collect?.(deps) ?? []);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

const licensedChannels = ({ channels, license }: Pick<Deps, "channels" | "license">) =>
  channels.filter(({ edition }) => includesEdition(license.edition, edition));

/** Returns the targets with queued messages, longest wait first. */
function queuedTargets(deps: Deps) {
  return licensedChannels(deps)
    .flatMap((channel) =>
      selectQueuedTargets(deps.db, channel.name, channel.isOrdered).map((target) => ({
        ...target,
        channel,
      }))
    )
    .sort((a, b) => a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0);
}

/** Makes one attempt and stores its outcome. @returns Whether the target works. */
async function deliver(
  deps: Deps,
  channel: OutboxChannel,
  message: OutboxMessage,
  { signal, retryMs }: { signal: AbortSignal; retryMs: readonly number[] },
): Promise<boolean> {
  const outcome = await attemptOnce(deps, channel, message, signal);
  // The outcome is unknown, so the message is sent again.
  if (!outcome || signal.aborted && outcome.result !== "sent") return false;
  if (outcome.result === "wait") {
    const nextMs = deps.now().getTime() + (outcome.afterMs ?? 0);
    updateMessageDue(deps.db, message.id, new Date(nextMs).toISOString());
    return true;
  }

  const attempt: OutboxAttempt = {
    attempts: message.attempts + 1,
    lastAttemptAt: deps.now().toISOString(),
    lastStatus: outcome.status,
    lastError: outcome.error?.slice(0, ERROR_MAX) ?? null,
  };
  deps.db.transaction(() => {
    store(deps, message, outcome, attempt, retryMs);
    channel.settle?.(deps, message, outcome, attempt);
  });
  if (channel.resource) deps.changes.record(channel.resource);
  return outcome.result === "sent";
}

/**
 * Makes one attempt.
 *
 * @returns `undefined` if `signal` aborted it, so that its outcome is unknown.
 */
export async function attemptOnce(
  deps: ChannelDeps,
  channel: OutboxChannel,
  message: OutboxMessage,
  signal: AbortSignal,
): Promise<OutboxOutcome | undefined> {
  try {
    return await channel.send(deps, message, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    const outcome = outcomeOfError(error);
    if (outcome) return outcome;
    deps.log.error("message delivery failed", {
      channel: channel.name,
      messageId: message.id,
      ...errorFields(error),
    });
    return { result: "retry", status: null, error: "Internal error" };
  }
}

function store(
  { db, now }: Pick<Deps, "db" | "now">,
  message: OutboxMessage,
  outcome: OutboxOutcome,
  attempt: OutboxAttempt,
  retryMs: readonly number[],
): void {
  const pauseMs = retryMs[attempt.attempts - 1];
  switch (outcome.result) {
    case "sent":
      return updateMessageSent(db, message.id, attempt);
    case "wait":
      return;
    case "gone":
      updateMessageFailed(db, message.id, attempt);
      updateQueuedFailed(db, message, attempt.lastError ?? "The receiver is gone");
      return;
    case "retry":
      if (pauseMs !== undefined) {
        const afterMs = Math.max(
          pauseMs * jitterOf(message),
          Math.min(outcome.afterMs ?? 0, AFTER_MS_MAX),
        );
        const nextAttemptAt = new Date(now().getTime() + afterMs).toISOString();
        return updateMessageRetry(db, message.id, { ...attempt, nextAttemptAt });
      }
      return updateMessageFailed(db, message.id, attempt);
    case "failed":
      return updateMessageFailed(db, message.id, attempt);
  }
}

/**
 * Returns a factor from 0.9 to 1.1, the same for all messages of a target, to keep their order.
 */
function jitterOf({ targetId }: OutboxMessage): number {
  let hash = 0;
  for (const character of targetId) hash = (hash * 31 + character.charCodeAt(0)) % 65_536;
  return 1 - JITTER + 2 * JITTER * (hash / 65_535);
}
