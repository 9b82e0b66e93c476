/** Selects the integrations to poll next. @module */

import { type IntegrationPoll, selectIntegrationPolls } from "../../../db/integration_polls.ts";
import { type Integration, selectPollIntervals } from "../../../db/integrations.ts";
import type { Deps } from "../../deps.ts";
import { includesEdition } from "../../edition.ts";
import { findAdapter } from "./adapter.ts";

/** Limit of the interval, which doubles with each consecutive failure, in seconds. */
const BACKOFF_MAX_S = 15 * 60;

/** Maximum jitter as a fraction of the interval. */
const JITTER = 0.1;

/** Limit of concurrent polls, and how many of them may be of failing or slow systems. */
const RUNNING_MAX = 16;
const DEGRADED_MAX = 8;

/** Duration above which a poll counts as slow, in milliseconds. */
const SLOW_MS = 2_000;

/**
 * Ids of the integrations to poll now, the longest overdue first. Failing and slow systems get only
 * part of the slots, so that they do not delay others.
 */
export function duePolls(
  { adapters, db, license, metrics, now, polls }: Pick<
    Deps,
    "adapters" | "db" | "license" | "metrics" | "now" | "polls"
  >,
): string[] {
  const atMs = now().getTime();
  const last = new Map(selectIntegrationPolls(metrics).map((poll) => [poll.integrationId, poll]));
  const all = selectPollIntervals(db)
    .filter(({ adapter }) => {
      const edition = findAdapter(adapters, adapter)?.edition;
      return edition !== undefined && includesEdition(license.edition, edition);
    })
    .map(({ id, pollInterval }) => ({
      id,
      dueMs: dueMs({ id, pollInterval }, last.get(id), polls.startedAt(id), atMs),
      isDegraded: isDegraded(last.get(id)),
    }));

  const running = all.filter(({ id }) => polls.isRunning(id));
  let slots = RUNNING_MAX - running.length;
  let degradedSlots = DEGRADED_MAX - running.filter((each) => each.isDegraded).length;
  const due = all
    .filter((each) => each.dueMs <= atMs && !running.includes(each))
    .sort((a, b) => a.dueMs - b.dueMs);
  return due.filter(({ isDegraded }) => {
    if (slots <= 0 || (isDegraded && degradedSlots <= 0)) return false;
    slots--;
    if (isDegraded) degradedSlots--;
    return true;
  }).map(({ id }) => id);
}

/**
 * When an integration is due, from the stored time of its last poll. An integration that was never
 * polled is due immediately.
 */
function dueMs(
  { id, pollInterval }: Pick<Integration, "id" | "pollInterval">,
  last: IntegrationPoll | undefined,
  startedAt: Date | undefined,
  atMs: number,
): number {
  const lastMs = Math.max(Date.parse(last?.lastPollAt ?? "") || 0, startedAt?.getTime() ?? 0);
  // The last poll is in the future if the clock was set back.
  if (lastMs === 0 || lastMs > atMs) return 0;
  const backoffMaxS = Math.max(pollInterval, BACKOFF_MAX_S);
  const delayS = Math.min(pollInterval * 2 ** (last?.failures ?? 0), backoffMaxS);
  return lastMs + delayS * 1000 * (1 + JITTER * fraction(`${id} ${lastMs}`));
}

/** Includes systems that were never polled. */
function isDegraded(last: IntegrationPoll | undefined): boolean {
  return !last || last.failures > 0 || last.durationMs > SLOW_MS;
}

/** A pseudorandom number from 0 to 1, derived from the text (FNV-1a). */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
