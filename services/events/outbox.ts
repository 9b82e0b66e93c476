/**
 * The outbox: what must arrive is written down first, in the transaction of its cause, and sent
 * until it has arrived or is given up. A crash in between means that a message is sent again, with
 * the id that it had.
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
  selectQueuedTargets,
  updateMessageFailed,
  updateMessageRetry,
  updateMessageSent,
  updateOldestQueuedFailed,
  updateQueuedFailed,
} from "../../db/ce/outbox_messages.ts";
import type { Deps } from "../deps.ts";
import { includesEdition } from "../license/edition.ts";
import { errorFields } from "../log.ts";
import type {
  OutboxAttempt,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "./outbox_channel.ts";

/** Pauses after a failed attempt, in milliseconds; after the last one a message is given up. */
const OUTBOX_RETRY_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** Most attempts under way at a time. One target has one at a time, for the sake of order. */
const PARALLEL_MAX = 32;

/** Of these, most to targets whose last attempt failed: dead ones leave room for the others. */
const PARALLEL_FAILING_MAX = 16;

/** Retries are spread by this share of their pause, so that outages do not end in a stampede. */
const JITTER = 0.1;

/** Longest wait that a receiver can ask for, in milliseconds. */
const AFTER_MS_MAX = 3_600_000;

/** Messages that may wait for one target; the oldest is given up for one more. */
const QUEUED_MAX = 10_000;

/** Messages that are kept of each target when they are done, and for how long. */
const KEPT_PER_TARGET = 1_000;
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const ERROR_MAX = 500;

/**
 * Writes a message down and wakes the deliverer. Belongs into the transaction of its cause.
 *
 * @returns Its id, which the receiver sees.
 */
export function enqueueMessage(
  { db, now, outbox }: Pick<Deps, "db" | "now" | "outbox">,
  message: Omit<NewOutboxMessage, "id" | "createdAt">,
): string {
  if (hasQueuedMessages(db, message, QUEUED_MAX)) {
    updateOldestQueuedFailed(db, message, `More than ${QUEUED_MAX} messages were waiting`);
  }
  const id = crypto.randomUUID();
  insertOutboxMessage(db, { ...message, id, createdAt: now().toISOString() });
  outbox.ring();
  return id;
}

/** Messages that wait, of every channel. */
export function outboxDepth({ db }: Pick<Deps, "db">): number {
  return countQueuedMessages(db);
}

/** Deletes what has been kept for its time, or beyond its number. */
export function sweepOutbox({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteOutboxMessagesBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteSurplusOutboxMessages(db, KEPT_PER_TARGET);
}

export interface Deliverer {
  /**
   * Begins to send what is due, as far as there is room.
   *
   * @returns When to look again at the latest, in milliseconds; `undefined` while nothing waits
   * or everything that waits is waiting for an attempt under way.
   * @throws What the database threw at the end of an earlier attempt.
   */
  start(): number | undefined;
  /** Attempts under way. */
  readonly busy: number;
  /** When everything under way has ended. */
  idle(): Promise<void>;
}

/**
 * Makes what sends the messages of every channel that is licensed.
 *
 * @param options.signal Ends attempts under way; such a message is sent again after the next start.
 * @param options.retryMs Pauses after failed attempts; default {@linkcode OUTBOX_RETRY_MS}.
 */
export function createDeliverer(
  deps: Deps,
  { signal, retryMs = OUTBOX_RETRY_MS }: { signal: AbortSignal; retryMs?: readonly number[] },
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
    const attempt = deliver(deps, channel, message, { signal, retryMs }).then(
      (isSent) => void (isSent ? failing.delete(key) : failing.add(key)),
      (error) => broken = { error },
    ).then(() => {
      running.delete(key);
      deps.outbox.ring();
    });
    running.set(key, { isDoubtful, attempt });
  };

  return {
    start() {
      if (broken) throw broken.error;
      const nowMs = deps.now().getTime();
      let doubtful = [...running.values()].filter(({ isDoubtful }) => isDoubtful).length;
      let nextMs: number | undefined;
      for (const { channel, targetId, dueAt } of queuedTargets(deps)) {
        if (signal.aborted || running.size >= PARALLEL_MAX) break;
        const key = `${channel.name} ${targetId}`;
        if (running.has(key)) continue;
        const dueInMs = Date.parse(dueAt) - nowMs;
        if (dueInMs > 0) {
          nextMs = dueInMs;
          break;
        }
        const target = { channel: channel.name, targetId };
        const message = selectDueMessage(deps.db, target, new Date(nowMs).toISOString());
        if (!message) continue;
        // The message knows of failures before the last start of the service.
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

/** Sends what is due, and what becomes due by that, and waits for its end. */
export async function deliverDue(
  deps: Deps,
  options: { signal: AbortSignal; retryMs?: readonly number[] },
): Promise<void> {
  const deliverer = createDeliverer(deps, options);
  do {
    deliverer.start();
    if (deliverer.busy) await deliverer.idle();
    else return;
  } while (!options.signal.aborted);
}

/** Targets with something to send, those first that have waited longest. */
function queuedTargets({ db, channels, license }: Deps) {
  return channels
    .filter(({ edition }) => includesEdition(license.edition, edition))
    .flatMap((channel) =>
      selectQueuedTargets(db, channel.name).map((target) => ({ ...target, channel }))
    )
    .sort((a, b) => a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0);
}

/** Makes one attempt and stores what it came to. @returns Whether the message was sent. */
async function deliver(
  deps: Deps,
  channel: OutboxChannel,
  message: OutboxMessage,
  { signal, retryMs }: { signal: AbortSignal; retryMs: readonly number[] },
): Promise<boolean> {
  const outcome = await attemptOnce(deps, channel, message, signal);
  // Nobody knows what it came to; it is sent again.
  if (!outcome || signal.aborted && outcome.result !== "sent") return false;

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
  return outcome.result === "sent";
}

async function attemptOnce(
  deps: Deps,
  channel: OutboxChannel,
  message: OutboxMessage,
  signal: AbortSignal,
): Promise<OutboxOutcome | undefined> {
  try {
    return await channel.send(deps, message, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
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
 * 0.9 to 1.1, the same for each message of a target: what failed in order is tried again in order.
 */
function jitterOf({ targetId }: OutboxMessage): number {
  let hash = 0;
  for (const character of targetId) hash = (hash * 31 + character.charCodeAt(0)) % 65_536;
  return 1 - JITTER + 2 * JITTER * (hash / 65_535);
}
