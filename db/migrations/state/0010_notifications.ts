import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0010_notifications",
  sql: `
    CREATE TABLE notification_channels (
      id                  TEXT PRIMARY KEY,
      name                TEXT NOT NULL,
      kind                TEXT NOT NULL,
      sealed              TEXT NOT NULL, -- encrypted: the config
      events              TEXT NOT NULL CHECK (json_valid(events)), -- array of kinds, or *
      min_severity        TEXT NOT NULL CHECK (min_severity IN ('info', 'warning', 'critical')),
      containers          TEXT CHECK (json_valid(containers)), -- array of patterns; NULL: all
      stacks              TEXT CHECK (json_valid(stacks)), -- array of patterns; NULL: all
      enabled             INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at          TEXT NOT NULL, -- ISO 8601, UTC
      updated_at          TEXT NOT NULL,
      last_delivery_at    TEXT,
      last_error          TEXT,
      failing_since       TEXT, -- NULL after a message was sent
      quiet_hours         TEXT CHECK (json_valid(quiet_hours)),
      digest_minutes      INTEGER NOT NULL DEFAULT 0, -- 0: every message is sent at once
      -- When the failure was reported through the other channels; NULL after it works again.
      failing_reported_at TEXT
    ) STRICT;

    -- The id of the first message of a thread on the platform, so that later ones can refer to it.
    CREATE TABLE notification_threads (
      channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
      thread     TEXT NOT NULL,
      reference  TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (channel_id, thread)
    ) STRICT, WITHOUT ROWID;

    -- Messages that wait for the end of the quiet hours or for the next digest.
    CREATE TABLE held_notifications (
      id         INTEGER PRIMARY KEY,
      channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
      thread     TEXT NOT NULL,
      message    TEXT NOT NULL CHECK (json_valid(message)),
      held_at    TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
    CREATE INDEX held_notifications_by_channel ON held_notifications (channel_id, id);
  `,
};
