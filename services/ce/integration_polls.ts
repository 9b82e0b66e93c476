/**
 * Polling integrations: when each is due, asking it, and storing what it brings.
 *
 * @module
 */

import {
  deleteIntegrationDataBeyond,
  updateEndedAlerts,
  upsertIntegrationData,
} from "../../db/ce/integration_data.ts";
import {
  type IntegrationPoll,
  selectIntegrationPoll,
  selectIntegrationPolls,
  upsertIntegrationPoll,
} from "../../db/ce/integration_polls.ts";
import { type Integration, selectPollIntervals } from "../../db/ce/integrations.ts";
import type { Deps } from "../deps.ts";
import { includesEdition } from "../edition.ts";
import { AppError } from "../errors.ts";
import {
  type AdapterContext,
  AdapterError,
  type Fetched,
  findAdapter,
  RECORDS_MAX,
} from "../integration_adapter.ts";
import { errorFields } from "../log.ts";
import { OutboundError, outboundRequest } from "../outbound_http.ts";
import { SealError } from "../secrets.ts";
import { DATA_KEPT_MS } from "./integration_data.ts";
import { assertLicensed, existingIntegration, usableConfig } from "./integrations.ts";

/** Longest time for one request, for a test, and for all requests of a poll; in milliseconds. */
const REQUEST_MS = 10_000;
const TEST_MS = 10_000;
const POLL_MS = 30_000;

/** Largest answer, in bytes: it is read whole, and parsing it takes time from everybody. */
const ANSWER_MAX = 2 * 1024 * 1024;

/** Most records kept of an integration, and how many more there may be until the oldest go. */
const KEPT_MAX = 100_000;
const TRIM_EVERY = 1_000;

/** How far back happenings are asked for at first, and again each time; in milliseconds. */
const FIRST_LOOK_MS = 24 * 60 * 60 * 1000;
const OVERLAP_MS = 10 * 60 * 1000;

/** After failures in a row the interval doubles up to this, in seconds. */
const BACKOFF_MAX_S = 15 * 60;

/** Part of the interval that is added at random, so that not all are polled at once. */
const JITTER = 0.1;

/** Most polls at a time, and most of them of systems that failed or were slow the last time. */
const RUNNING_MAX = 16;
const TROUBLED_MAX = 8;

/** From how long on a poll counts as slow, in milliseconds. */
const SLOW_MS = 2_000;

/** Longest error that is stored, in characters. */
const ERROR_MAX = 500;

/** What came of asking a system. */
export interface PollOutcome {
  ok: boolean;
  /** How many were stored. */
  records: number;
  durationMs: number;
  /** One sentence. */
  error: string | null;
}

type PollDeps = Pick<
  Deps,
  "adapters" | "config" | "db" | "license" | "log" | "metrics" | "now" | "polls" | "secrets"
>;

/**
 * Asks for as little as proves that address and credentials are right; stores nothing.
 *
 * @throws {AppError} `not_found` for an unknown id.
 * @throws {LimitError} When the edition lacks the adapter.
 */
export async function testIntegration(
  deps: PollDeps,
  id: string,
): Promise<{ ok: boolean; latencyMs: number; error: string | null }> {
  const integration = licensedIntegration(deps, id);
  const startMs = performance.now();
  let error: string | null = null;
  try {
    const { adapter, config } = await usableConfig(deps, integration);
    await adapter.test(context(deps, { since: deps.now(), timeoutMs: TEST_MS }), config);
  } catch (failure) {
    error = sentence(deps, id, failure);
  }
  return { ok: error === null, latencyMs: elapsed(startMs), error };
}

/**
 * Asks now, also when the integration is not due or off; joins a poll that is under way.
 *
 * @throws {AppError} `not_found` for an unknown id.
 * @throws {LimitError} When the edition lacks the adapter.
 */
export async function pollIntegration(deps: PollDeps, id: string): Promise<PollOutcome> {
  const integration = licensedIntegration(deps, id);
  return await deps.polls.run(id, (signal) => poll(deps, integration, signal));
}

/**
 * Ids of the integrations to poll now, the longest due first. Systems in trouble get no more than
 * a part of the places, so that they delay no other.
 */
export function duePolls(
  { adapters, db, license, metrics, now, polls }: Pick<
    PollDeps,
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

function licensedIntegration(
  { adapters, db, license }: Pick<PollDeps, "adapters" | "db" | "license">,
  id: string,
): Integration {
  const integration = existingIntegration(db, id);
  const adapter = findAdapter(adapters, integration.adapter);
  if (adapter) assertLicensed(license, adapter);
  return integration;
}

async function poll(
  deps: PollDeps,
  integration: Integration,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const { metrics, now } = deps;
  const { id } = integration;
  const at = now();
  const startMs = performance.now();
  const before = selectIntegrationPoll(metrics, id);
  const outcome: PollOutcome = { ok: false, records: 0, durationMs: 0, error: null };
  let fetched: Fetched | undefined;
  try {
    const { adapter, config } = await usableConfig(deps, integration);
    const since = sinceWhen(before, at);
    fetched = await adapter.fetch(context(deps, { since, timeoutMs: POLL_MS, signal }), config);
    outcome.error = fetched.problem?.slice(0, ERROR_MAX) ?? null;
  } catch (failure) {
    if (!signal.aborted) outcome.error = sentence(deps, id, failure);
  }
  outcome.durationMs = elapsed(startMs);
  // Nobody asked for what comes now: the integration was changed, turned off or deleted, or the
  // service ends.
  if (signal.aborted) return { ...outcome, error: "The poll was given up: something changed" };
  outcome.ok = outcome.error === null;
  outcome.records = store(deps, id, { at, before, fetched, outcome });
  return outcome;
}

/** @returns How many records were stored. */
function store(
  { metrics }: Pick<PollDeps, "metrics">,
  integrationId: string,
  { at, before, fetched, outcome }: {
    at: Date;
    before: IntegrationPoll | undefined;
    fetched: Fetched | undefined;
    outcome: PollOutcome;
  },
): number {
  const oldest = new Date(at.getTime() - DATA_KEPT_MS).toISOString();
  const records = (fetched?.records ?? []).filter((each) => each.timestamp >= oldest)
    .slice(0, RECORDS_MAX);
  const lastPollAt = at.toISOString();
  const untrimmed = (before?.untrimmed ?? 0) + records.length;
  const trims = untrimmed >= TRIM_EVERY;

  metrics.transaction(() => {
    for (const record of records) {
      upsertIntegrationData(metrics, { id: crypto.randomUUID(), integrationId, ...record });
    }
    if (fetched?.alertsComplete) {
      const going = fetched.records.flatMap(({ active, key }) => active && key ? [key] : []);
      updateEndedAlerts(metrics, integrationId, going, lastPollAt);
    }
    if (trims) deleteIntegrationDataBeyond(metrics, integrationId, KEPT_MAX);
    upsertIntegrationPoll(metrics, {
      integrationId,
      lastPollAt,
      lastStatus: outcome.ok ? "ok" : "error",
      lastError: outcome.error,
      lastOkAt: fetched ? lastPollAt : before?.lastOkAt ?? null,
      durationMs: outcome.durationMs,
      // A system that answers in part is not asked less often.
      failures: fetched ? 0 : (before?.failures ?? 0) + 1,
      untrimmed: trims ? 0 : untrimmed,
    });
  });
  return records.length;
}

function sinceWhen(before: IntegrationPoll | undefined, at: Date): Date {
  const first = at.getTime() - FIRST_LOOK_MS;
  const again = Date.parse(before?.lastOkAt ?? "") - OVERLAP_MS;
  return new Date(Math.max(first, Math.min(again || first, at.getTime() - OVERLAP_MS)));
}

function context(
  deps: Pick<PollDeps, "config" | "now">,
  { since, timeoutMs, signal }: {
    since: Date;
    /** For all requests together. */
    timeoutMs: number;
    signal?: AbortSignal;
  },
): AdapterContext {
  const endMs = performance.now() + timeoutMs;
  return {
    now: deps.now(),
    since,
    async ask({ url, ...request }) {
      const leftMs = Math.floor(endMs - performance.now());
      if (leftMs <= 0) {
        throw new OutboundError("timeout", `Not all answers came within ${timeoutMs} ms`);
      }
      return await outboundRequest(deps, {
        ...request,
        url: url.href,
        reach: "internal",
        timeoutMs: Math.min(REQUEST_MS, leftMs),
        bodyMax: ANSWER_MAX,
        signal,
      });
    },
  };
}

/** What may be told of a failure; the rest is for the log. */
function sentence({ log }: Pick<PollDeps, "log">, integrationId: string, failure: unknown): string {
  const isTold = [AdapterError, OutboundError, SealError, AppError]
    .some((known) => failure instanceof known);
  if (isTold) return (failure as Error).message.slice(0, ERROR_MAX);
  log.error("integration failed", { integrationId, ...errorFields(failure) });
  return "Internal error";
}

const elapsed = (startMs: number) => Math.round(performance.now() - startMs);
