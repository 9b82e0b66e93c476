import type { Migration } from "../../migrate.ts";

// Messages to a channel are in `outbox_messages`, which is also the delivery log: a second table of
// the same messages could contradict it.
export const migration: Migration = {
  name: "0028_chat",
  sql: `
    CREATE TABLE chat_channels (
      id         TEXT PRIMARY KEY,
      platform   TEXT NOT NULL CHECK (platform IN ('messenger', 'team-chat')),
      name       TEXT NOT NULL,
      events     TEXT NOT NULL CHECK (json_valid(events)), -- array of kinds, or *
      sealed     TEXT NOT NULL, -- encrypted: tokens and addresses
      enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at TEXT NOT NULL, -- ISO 8601, UTC
      updated_at TEXT NOT NULL
    ) STRICT;
  `,
};
