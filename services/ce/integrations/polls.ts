/**
 * Polling an integration: asking it, and storing what it brings.
 *
 * @module
 */

import {
  deleteIntegrationDataBeyond,
  updateEndedAlerts,
  upsertIntegrationData,
} from "../../../db/ce/integration_data.ts";
import {
  type IntegrationPoll,
  selectIntegrationPoll,
  upsertIntegrationPoll,
} from "../../../db/ce/integration_polls.ts";
import type { Integration } from "../../../db/ce/integrations.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { RECORDS_MAX } from "../../integration/record.ts";
import { type AdapterContext, AdapterError } from "../../integration/request.ts";
import { type Fetched, findAdapter } from "../../integration/adapter.ts";
import { errorFields } from "../../log.ts";
import { OutboundError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import { SealError } from "../../secrets.ts";
import { DATA_KEPT_MS } from "./data.ts";
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
  if (signal.aborted) {
    return { ...outcome, error: "The poll was interrupted: the integration changed" };
  }
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
