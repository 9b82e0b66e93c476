/** The `integration_polls` table: the result of the last poll of each integration. @module */

import { number, type Row, table, text } from "./columns.ts";
import type { MetricsDatabase } from "./database.ts";

const polls = table(
  "integration_polls",
  {
    integrationId: text(),
    /** ISO 8601, UTC. */
    lastPollAt: text(),
    lastStatus: text<"ok" | "error">(),
    lastError: text<string | null>(),
    lastOkAt: text<string | null>(),
    durationMs: number(),
    /** Failed polls in a row. */
    failures: number(),
    /** Records stored since the oldest were last trimmed. */
    untrimmed: number(),
  },
  { key: "integrationId" },
);

export type IntegrationPoll = Row<typeof polls>;

export const {
  all: selectIntegrationPolls,
  /** `undefined` for an integration that was never polled. */
  find: selectIntegrationPoll,
  replace: upsertIntegrationPoll,
  delete: deleteIntegrationPoll,
} = polls;

/** Resets the failure count, so that the next poll waits no longer than its interval. */
export function resetIntegrationFailures(db: MetricsDatabase, integrationId: string): void {
  polls.update(db, integrationId, { failures: 0 });
}
