/** Polls integrations and stores their data. @module */

import {
  deleteIntegrationDataBeyond,
  updateEndedAlerts,
  upsertIntegrationData,
} from "../../../db/integration_data.ts";
import {
  type IntegrationPoll,
  selectIntegrationPoll,
  upsertIntegrationPoll,
} from "../../../db/integration_polls.ts";
import type { Integration } from "../../../db/integrations.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { RECORDS_MAX } from "./record.ts";
import { type AdapterContext, AdapterError } from "./request.ts";
import { type Fetched, findAdapter } from "./adapter.ts";
import { errorFields } from "../../log.ts";
import { OutboundError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import { SealError } from "../../secrets/secrets.ts";
import { DATA_RETENTION_MS } from "./data.ts";
import { findIntegration } from "./integrations.ts";
import { assertLicensed } from "./licensed_adapters.ts";
import { openConfig } from "./stored_config.ts";

/** Timeouts of one request, of a test, and of all requests of a poll; in milliseconds. */
const REQUEST_MS = 10_000;
const TEST_MS = 10_000;
const POLL_MS = 30_000;

/** Limit of a response, in bytes. Parsing a larger one would block the event loop. */
const RESPONSE_MAX_BYTES = 2 * 1024 * 1024;

/** Limit of records per integration, and after how many new records it is enforced. */
const RECORDS_STORED_MAX = 100_000;
const TRIM_EVERY = 1_000;

/** Period covered by the first poll, and overlap of later polls; in milliseconds. */
const FIRST_PERIOD_MS = 24 * 60 * 60 * 1000;
const OVERLAP_MS = 10 * 60 * 1000;

/** Limit of a stored error, in characters. */
const ERROR_MAX = 500;

/** The result of a poll. */
interface PollOutcome {
  ok: boolean;
  /** Number of stored records. */
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
 * Verifies address and credentials with a minimal request. Stores nothing.
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
    const { adapter, config } = await openConfig(deps, integration);
    await adapter.test(context(deps, { since: deps.now(), timeoutMs: TEST_MS }), config);
  } catch (failure) {
    error = describeFailure(deps, id, failure);
  }
  return { ok: error === null, latencyMs: elapsedMs(startMs), error };
}

/**
 * Polls immediately, even if the integration is disabled or not due, or joins the running poll.
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
  const integration = findIntegration(db, id);
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
    const { adapter, config } = await openConfig(deps, integration);
    const since = startOfPeriod(before, at);
    fetched = await adapter.fetch(context(deps, { since, timeoutMs: POLL_MS, signal }), config);
    outcome.error = fetched.problem?.slice(0, ERROR_MAX) ?? null;
  } catch (failure) {
    if (!signal.aborted) outcome.error = describeFailure(deps, id, failure);
  }
  outcome.durationMs = elapsedMs(startMs);
  // The integration was changed, disabled or deleted, or the service stops.
  if (signal.aborted) {
    return { ...outcome, error: "The poll was interrupted: the integration changed" };
  }
  outcome.ok = outcome.error === null;
  outcome.records = storePoll(deps, id, { at, before, fetched, outcome });
  return outcome;
}

/** @returns The number of stored records. */
function storePoll(
  { metrics }: Pick<PollDeps, "metrics">,
  integrationId: string,
  { at, before, fetched, outcome }: {
    at: Date;
    before: IntegrationPoll | undefined;
    fetched: Fetched | undefined;
    outcome: PollOutcome;
  },
): number {
  const oldest = new Date(at.getTime() - DATA_RETENTION_MS).toISOString();
  const records = (fetched?.records ?? []).filter((each) => each.timestamp >= oldest)
    .slice(0, RECORDS_MAX);
  const lastPollAt = at.toISOString();
  const untrimmed = (before?.untrimmed ?? 0) + records.length;
  const shouldTrim = untrimmed >= TRIM_EVERY;

  metrics.transaction(() => {
    for (const record of records) {
      upsertIntegrationData(metrics, { id: crypto.randomUUID(), integrationId, ...record });
    }
    if (fetched?.alertsComplete) {
      const active = fetched.records.flatMap(({ active, key }) => active && key ? [key] : []);
      updateEndedAlerts(metrics, integrationId, active, lastPollAt);
    }
    if (shouldTrim) deleteIntegrationDataBeyond(metrics, integrationId, RECORDS_STORED_MAX);
    upsertIntegrationPoll(metrics, {
      integrationId,
      lastPollAt,
      lastStatus: outcome.ok ? "ok" : "error",
      lastError: outcome.error,
      lastOkAt: fetched ? lastPollAt : before?.lastOkAt ?? null,
      durationMs: outcome.durationMs,
      // A partial answer is not a failure, so it does not increase the interval.
      failures: fetched ? 0 : (before?.failures ?? 0) + 1,
      untrimmed: shouldTrim ? 0 : untrimmed,
    });
  });
  return records.length;
}

function startOfPeriod(before: IntegrationPoll | undefined, at: Date): Date {
  const earliest = at.getTime() - FIRST_PERIOD_MS;
  const next = Date.parse(before?.lastOkAt ?? "") - OVERLAP_MS;
  return new Date(Math.max(earliest, Math.min(next || earliest, at.getTime() - OVERLAP_MS)));
}

function context(
  deps: Pick<PollDeps, "config" | "now">,
  { since, timeoutMs, signal }: {
    since: Date;
    /** Of all requests together. */
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
        throw new OutboundError("timeout", `Not all responses arrived within ${timeoutMs} ms`);
      }
      return await outboundRequest(deps, {
        ...request,
        url: url.href,
        reach: "internal",
        timeoutMs: Math.min(REQUEST_MS, leftMs),
        bodyMax: RESPONSE_MAX_BYTES,
        signal,
      });
    },
  };
}

/** The message of an expected failure; unexpected failures are logged instead. */
function describeFailure(
  { log }: Pick<PollDeps, "log">,
  integrationId: string,
  failure: unknown,
): string {
  if (
    failure instanceof AdapterError || failure instanceof OutboundError ||
    failure instanceof SealError || failure instanceof AppError
  ) return failure.message.slice(0, ERROR_MAX);
  log.error("integration failed", { integrationId, ...errorFields(failure) });
  return "Internal error";
}

const elapsedMs = (startMs: number) => Math.round(performance.now() - startMs);
