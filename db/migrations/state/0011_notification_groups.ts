import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0011_notification_groups",
  sql: `
    -- Open problems.
    CREATE TABLE notification_problems (
      key        TEXT PRIMARY KEY, -- the object, e.g. 'container web'
      kind       TEXT NOT NULL,
      cause      TEXT NOT NULL, -- the key of the problem that it belongs to, or its own
      containers TEXT NOT NULL CHECK (json_valid(containers)), -- array of names
      event      TEXT NOT NULL CHECK (json_valid(event)), -- its beginning
      opened_at  TEXT NOT NULL, -- ISO 8601, UTC
      ended_at   TEXT -- of the engine's outage, which matters a little longer
    ) STRICT;

    -- Events of a cause that a receiver got, and those that are held back.
    CREATE TABLE notification_groups (
      channel    TEXT NOT NULL, -- of the outbox
      target_id  TEXT NOT NULL,
      cause      TEXT NOT NULL,
      state      TEXT NOT NULL CHECK (json_valid(state)),
      due_at     TEXT, -- when the next message is due; NULL: none
      updated_at TEXT NOT NULL,
      PRIMARY KEY (channel, target_id, cause)
    ) STRICT;

    CREATE INDEX notification_groups_due ON notification_groups (channel, due_at)
      WHERE due_at IS NOT NULL;
  `,
};
