// Rows of a member: requests that its hub has left, each of which runs once. A row outlives its box, so
// that the box cannot run again.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0071_fleet_boxes",
  sql: `
    CREATE TABLE fleet_boxes (
      id          TEXT PRIMARY KEY,
      hub         TEXT NOT NULL, -- its key for links
      user_name   TEXT NOT NULL, -- at the hub
      method      TEXT NOT NULL,
      path        TEXT NOT NULL,
      request     TEXT,          -- sealed; NULL after the end
      state       TEXT NOT NULL CHECK (state IN ('waiting', 'begun', 'job', 'done', 'refused')),
      job_id      TEXT,
      error       TEXT,
      received_at TEXT NOT NULL,
      expires_at  TEXT NOT NULL,
      begun_at    TEXT
    ) STRICT;
    CREATE INDEX fleet_boxes_waiting ON fleet_boxes (state)
      WHERE state IN ('waiting', 'begun');
  `,
};
