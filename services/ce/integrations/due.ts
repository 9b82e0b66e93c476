/**
 * When integrations are due to be polled, and how many at a time.
 *
 * @module
 */

import { type IntegrationPoll, selectIntegrationPolls } from "../../../db/ce/integration_polls.ts";
import { type Integration, selectPollIntervals } from "../../../db/ce/integrations.ts";
import type { Deps } from "../../deps.ts";
import { includesEdition } from "../../license/edition.ts";
import { findAdapter } from "../../integration/adapter.ts";

/** After failures in a row the interval doubles up to this, in seconds. */
const BACKOFF_MAX_S = 15 * 60;

/** Part of the interval that is added at random, so that not all are polled at once. */
const JITTER = 0.1;

/** Most polls at a time, and most of them of systems that failed or were slow the last time. */
const RUNNING_MAX = 16;
const TROUBLED_MAX = 8;

/** From how long on a poll counts as slow, in milliseconds. */
const SLOW_MS = 2_000;

/**
 * Ids of the integrations to poll now, the longest due first. Systems in trouble get no more than
 * a part of the places, so that they delay no other.
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
      isTroubled: isTroubled(last.get(id)),
    }));

  const running = all.filter(({ id }) => polls.isRunning(id));
  let places = RUNNING_MAX - running.length;
  let troubledPlaces = TROUBLED_MAX - running.filter((each) => each.isTroubled).length;
  const due = all
    .filter((each) => each.dueMs <= atMs && !running.includes(each))
    .sort((a, b) => a.dueMs - b.dueMs);
  return due.filter(({ isTroubled }) => {
    if (places <= 0 || (isTroubled && troubledPlaces <= 0)) return false;
    places--;
    if (isTroubled) troubledPlaces--;
    return true;
  }).map(({ id }) => id);
}

/**
 * When an integration is due, from what is stored: a restart changes nothing. One that was never
 * polled is due at once.
 */
function dueMs(
  { id, pollInterval }: Pick<Integration, "id" | "pollInterval">,
  last: IntegrationPoll | undefined,
  startedAt: Date | undefined,
  atMs: number,
): number {
  const lastMs = Math.max(Date.parse(last?.lastPollAt ?? "") || 0, startedAt?.getTime() ?? 0);
  // A clock that was set back must not silence an integration.
  if (lastMs === 0 || lastMs > atMs) return 0;
  const backoffMaxS = Math.max(pollInterval, BACKOFF_MAX_S);
  const delayS = Math.min(pollInterval * 2 ** (last?.failures ?? 0), backoffMaxS);
  return lastMs + delayS * 1000 * (1 + JITTER * fraction(`${id} ${lastMs}`));
}

/** Not known to be well counts as trouble. */
function isTroubled(last: IntegrationPoll | undefined): boolean {
  return !last || last.failures > 0 || last.durationMs > SLOW_MS;
}

/** A number from 0 to 1 that looks random, and is the same for the same text (FNV-1a). */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
