/**
 * The `integrations` table: external systems that are polled for data.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** One integration as stored. */
export interface Integration {
  id: string;
  name: string;
  /** Id of its adapter, never an alias. */
  adapter: string;
  /** As it is shown, with secrets redacted. */
  config: Record<string, unknown>;
  /** The values redacted in `config`, encrypted. */
  secrets: string;
  /** Seconds. */
  pollInterval: number;
  enabled: boolean;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
}

const integrations = table<Integration>(
  "integrations",
  {
    id: "value",
    name: "value",
    adapter: "value",
    config: "json",
    secrets: "value",
    pollInterval: "value",
    enabled: "boolean",
    createdAt: "value",
    updatedAt: "value",
  },
  { names: { pollInterval: "poll_interval_s" } },
);

export const {
  find: selectIntegration,
  count: countIntegrations,
  insert: insertIntegration,
  save: updateIntegration,
  delete: deleteIntegration,
} = integrations;

/** All integrations, newest first. */
export function selectIntegrations(db: Database): Integration[] {
  return integrations.select(db, "ORDER BY created_at DESC, id");
}

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
