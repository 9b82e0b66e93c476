/**
 * The `integration_polls` table: how the last poll of each integration went.
 *
 * @module
 */

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

const COLUMNS = `
  integration_id AS integrationId, last_poll_at AS lastPollAt, last_status AS lastStatus,
  last_error AS lastError, last_ok_at AS lastOkAt, duration_ms AS durationMs, failures, untrimmed`;

export function selectIntegrationPolls(db: MetricsDatabase): IntegrationPoll[] {
  return db.all(`SELECT ${COLUMNS} FROM integration_polls`);
}

/** `undefined` for an integration that was never polled. */
export function selectIntegrationPoll(
  db: MetricsDatabase,
  integrationId: string,
): IntegrationPoll | undefined {
  return db.get(
    `SELECT ${COLUMNS} FROM integration_polls WHERE integration_id = :integrationId`,
    { integrationId },
  );
}

export function upsertIntegrationPoll(db: MetricsDatabase, poll: IntegrationPoll): void {
  db.run(
    `INSERT OR REPLACE INTO integration_polls
       (integration_id, last_poll_at, last_status, last_error, last_ok_at, duration_ms, failures,
        untrimmed)
     VALUES
       (:integrationId, :lastPollAt, :lastStatus, :lastError, :lastOkAt, :durationMs, :failures,
        :untrimmed)`,
    { ...poll },
  );
}

/** Forgets former failures, after which the next poll waits no longer than its interval. */
export function updateIntegrationFailuresForgotten(
  db: MetricsDatabase,
  integrationId: string,
): void {
  db.run("UPDATE integration_polls SET failures = 0 WHERE integration_id = :integrationId", {
    integrationId,
  });
}

export function deleteIntegrationPoll(db: MetricsDatabase, integrationId: string): void {
  db.run("DELETE FROM integration_polls WHERE integration_id = :integrationId", { integrationId });
}
