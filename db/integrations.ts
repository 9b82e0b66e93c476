/** The `integrations` table: external systems that are polled for data. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const integrations = table(
  "integrations",
  {
    id: text(),
    name: text(),
    /** Id of its adapter, never an alias. */
    adapter: text(),
    /** As it is shown, with secrets redacted. */
    config: json<Record<string, unknown>>(),
    /** The values redacted in `config`, encrypted. */
    secrets: text(),
    /** Seconds. */
    pollInterval: number(),
    enabled: boolean(),
    /** ISO 8601, UTC. */
    createdAt: text(),
    updatedAt: text(),
  },
  { names: { pollInterval: "poll_interval_s" }, order: "created_at DESC, id" },
);

/** One integration as stored. */
export type Integration = Row<typeof integrations>;

export const {
  find: selectIntegration,
  count: countIntegrations,
  insert: insertIntegration,
  save: updateIntegration,
  delete: deleteIntegration,
  /** All integrations, newest first. */
  all: selectIntegrations,
} = integrations;

/** The polling intervals of the enabled integrations. */
export function selectPollIntervals(
  db: Database,
): Pick<Integration, "id" | "adapter" | "pollInterval">[] {
  return db.all(
    "SELECT id, adapter, poll_interval_s AS pollInterval FROM integrations WHERE enabled = 1",
  );
}

export function selectIntegrationIds(db: Database): string[] {
  return db.all<{ id: string }>("SELECT id FROM integrations").map(({ id }) => id);
}
