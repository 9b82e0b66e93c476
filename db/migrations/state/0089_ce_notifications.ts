import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0089_ce_notifications",
  sql: `
    CREATE TABLE notification_channels (
      id               TEXT PRIMARY KEY,
      name             TEXT NOT NULL,
      kind             TEXT NOT NULL,
      sealed           TEXT NOT NULL, -- encrypted: the config
      events           TEXT NOT NULL CHECK (json_valid(events)), -- array of kinds, or *
      min_severity     TEXT NOT NULL CHECK (min_severity IN ('info', 'warning', 'critical')),
      containers       TEXT CHECK (json_valid(containers)), -- array of patterns; NULL: all
      stacks           TEXT CHECK (json_valid(stacks)), -- array of patterns; NULL: all
      enabled          INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at       TEXT NOT NULL, -- ISO 8601, UTC
      updated_at       TEXT NOT NULL,
      last_delivery_at TEXT,
      last_error       TEXT,
      failing_since    TEXT -- NULL after a message was sent
    ) STRICT;

    -- What a platform called the first message of a thread, so that later ones can refer to it.
    CREATE TABLE notification_threads (
      channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
      thread     TEXT NOT NULL,
      reference  TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (channel_id, thread)
    ) STRICT, WITHOUT ROWID;
  `,
};
