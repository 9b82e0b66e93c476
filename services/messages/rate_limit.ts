/**
 * The limit of messages to a channel or chat: 20 in a minute, and one summary of the others.
 *
 * @module
 */

import {
  hasMessagesSince,
  selectQueuedMessage,
  updateMessagePayload,
} from "../../db/outbox_messages.ts";
import type { Deps } from "../deps.ts";
import { enqueueMessage } from "../events/outbox.ts";

/** Messages that a target gets in a minute. */
const PER_MINUTE_MAX = 20;
const MINUTE_MS = 60_000;

/** Titles that a summary shows. */
const TITLES_MAX = 20;

/** The kind of event of a summary. */
export const SUMMARY = "summary";

type LimitDeps = Pick<Deps, "db" | "now">;
type LimitedTarget = { channel: string; targetId: string };

/** Events that a summary stands for. */
export interface Summarized {
  /** The first ones. */
  titles: string[];
  count: number;
}

/** A message and, in case that there are too many, the summary that it becomes part of. */
export interface LimitedMessage extends LimitedTarget {
  eventKind: string;
  title: string;
  /** Returns the payload of the message. */
  write(): string;
  /** Returns the payload of a summary. */
  writeSummary(summarized: Summarized): string;
  /** Reads the payload of a summary. */
  readSummary(payload: string): Summarized;
}

/** Whether a target got as many messages as it may get in a minute. */
export function isLimitReached({ db, now }: LimitDeps, target: LimitedTarget): boolean {
  const since = new Date(now().getTime() - MINUTE_MS).toISOString();
  return hasMessagesSince(db, target, since, PER_MINUTE_MAX);
}

/**
 * Queues a message, or adds it to the summary of its target. Must be called in the transaction of its
 * cause.
 *
 * @returns The id of the message or summary.
 */
export function enqueueLimited(
  deps: LimitDeps & Pick<Deps, "outbox">,
  message: LimitedMessage,
): string {
  const { db } = deps;
  const { channel, eventKind, targetId, title } = message;
  const target = { channel, targetId };
  if (!isLimitReached(deps, target)) {
    return enqueueMessage(deps, { ...target, eventKind, payload: message.write() });
  }
  const summary = selectQueuedMessage(db, target, SUMMARY);
  const { titles, count } = summary
    ? message.readSummary(summary.payload)
    : { titles: [], count: 0 };
  const payload = message.writeSummary({
    titles: [...titles, title].slice(0, TITLES_MAX),
    count: count + 1,
  });
  if (!summary) return enqueueMessage(deps, { ...target, eventKind: SUMMARY, payload }, MINUTE_MS);
  updateMessagePayload(db, summary.id, payload);
  return summary.id;
}

/** The titles of a summary are its first lines. */
export const titlesOf = (lines: readonly string[], count: number): string[] =>
  lines.slice(0, Math.min(count, TITLES_MAX));
