/**
 * The `integration_polls` table: the result of the last poll of each integration.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { MetricsDatabase } from "../database.ts";

export interface IntegrationPoll {
  integrationId: string;
  /** ISO 8601, UTC. */
  lastPollAt: string;
  lastStatus: "ok" | "error";
  lastError: string | null;
  lastOkAt: string | null;
  durationMs: number;
  /** Failed polls in a row. */
  failures: number;
  /** Records stored since the oldest were last trimmed. */
  untrimmed: number;
}

const polls = table<IntegrationPoll>(
  "integration_polls",
  {
    integrationId: "value",
    lastPollAt: "value",
    lastStatus: "value",
    lastError: "value",
    lastOkAt: "value",
    durationMs: "value",
    failures: "value",
    untrimmed: "value",
  },
  { key: "integrationId" },
);

export function selectIntegrationPolls(db: MetricsDatabase): IntegrationPoll[] {
  return polls.select(db);
}

/** `undefined` for an integration that was never polled. */
export function selectIntegrationPoll(
  db: MetricsDatabase,
  integrationId: string,
): IntegrationPoll | undefined {
  return polls.find(db, integrationId);
}

export function upsertIntegrationPoll(db: MetricsDatabase, poll: IntegrationPoll): void {
  polls.replace(db, poll);
}

/** Resets the failure count, so that the next poll waits no longer than its interval. */
export function resetIntegrationFailures(db: MetricsDatabase, integrationId: string): void {
  polls.update(db, integrationId, { failures: 0 });
}

export function deleteIntegrationPoll(db: MetricsDatabase, integrationId: string): void {
  polls.delete(db, integrationId);
}
