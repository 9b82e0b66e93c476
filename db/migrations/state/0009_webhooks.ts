import type { Migration } from "../../migrate.ts";

// The outbox serves the channels of all editions: a target is a webhook, a chat channel or a
// device. It is not a foreign key, because each channel stores its targets in its own table.
export const migration: Migration = {
  name: "0009_webhooks",
  sql: `
    CREATE TABLE webhooks (
      id                   TEXT PRIMARY KEY,
      name                 TEXT NOT NULL,
      events               TEXT NOT NULL CHECK (json_valid(events)), -- array of kinds, or *
      sealed               TEXT NOT NULL, -- encrypted: URL, headers and signing secret
      enabled              INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at           TEXT NOT NULL, -- ISO 8601, UTC
      last_delivery_at     TEXT,
      last_delivery_status INTEGER, -- of the response; NULL without one
      last_delivery_error  TEXT
    ) STRICT;

    CREATE TABLE outbox_messages (
      sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
      id              TEXT NOT NULL UNIQUE, -- lets a receiver detect duplicates
      channel         TEXT NOT NULL,
      target_id       TEXT NOT NULL,
      event_kind      TEXT NOT NULL,
      payload         TEXT NOT NULL, -- the body as sent
      created_at      TEXT NOT NULL,
      next_attempt_at TEXT CHECK ((next_attempt_at IS NOT NULL) = (status = 'queued')),
      attempts        INTEGER NOT NULL DEFAULT 0,
      last_attempt_at TEXT,
      status          TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
      last_status     INTEGER, -- of the response; NULL without one
      last_error      TEXT,
      sent_at         TEXT
    ) STRICT;
    CREATE INDEX outbox_messages_queued
      ON outbox_messages (channel, target_id, next_attempt_at, sequence) WHERE status = 'queued';
    CREATE INDEX outbox_messages_by_target ON outbox_messages (channel, target_id, sequence DESC);
    CREATE INDEX outbox_messages_by_time ON outbox_messages (created_at);
  `,
};
