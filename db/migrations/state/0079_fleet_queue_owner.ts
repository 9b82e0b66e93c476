import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0079_fleet_queue_owner",
  sql: `
    -- The id of this host at the hub that the event is for.
    ALTER TABLE fleet_outgoing_events ADD COLUMN host_id TEXT NOT NULL DEFAULT '';
    -- Whether this server, as a hub, has taken a failure into account.
    ALTER TABLE update_verdicts ADD COLUMN is_taken INTEGER NOT NULL DEFAULT 0;
  `,
};
