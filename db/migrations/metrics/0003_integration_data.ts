import type { Migration } from "../../migrate.ts";

// No foreign keys: the integrations are in the other database.
export const migration: Migration = {
  name: "0003_integration_data",
  sql: `
    CREATE TABLE integration_polls (
      integration_id TEXT PRIMARY KEY,
      last_poll_at   TEXT NOT NULL, -- ISO 8601, UTC
      last_status    TEXT NOT NULL CHECK (last_status IN ('ok', 'error')),
      last_error     TEXT,
      last_ok_at     TEXT, -- ISO 8601, UTC
      duration_ms    INTEGER NOT NULL CHECK (duration_ms >= 0),
      failures       INTEGER NOT NULL CHECK (failures >= 0), -- in a row
      untrimmed      INTEGER NOT NULL -- records stored since the oldest were last trimmed
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE integration_data (
      seq            INTEGER PRIMARY KEY,
      id             TEXT NOT NULL,
      integration_id TEXT NOT NULL,
      type           TEXT NOT NULL CHECK (type IN ('metric', 'alert', 'event')),
      name           TEXT NOT NULL,
      value          REAL,
      unit           TEXT,
      labels         TEXT NOT NULL CHECK (json_valid(labels)),
      severity       TEXT,
      status         TEXT,
      detail         TEXT,
      timestamp      TEXT NOT NULL, -- ISO 8601, UTC
      source_key     TEXT, -- identifies an alert or event; NULL for a sample
      active         INTEGER NOT NULL CHECK (active IN (0, 1)) -- an unresolved alert
    ) STRICT;
    CREATE INDEX integration_data_by_time ON integration_data (integration_id, timestamp DESC);
    CREATE INDEX integration_data_by_type ON integration_data (integration_id, type, timestamp DESC);
    CREATE INDEX integration_data_active ON integration_data (integration_id) WHERE active = 1;
    CREATE UNIQUE INDEX integration_data_by_key ON integration_data (integration_id, source_key)
      WHERE source_key IS NOT NULL;
  `,
};
