import type { Migration } from "../../migrate.ts";

// Each outage or alert opens one incident, even across crashes: hence the unique cause. An incident
// outlives its cause, hence no foreign keys to monitors and rules.
export const migration: Migration = {
  name: "0023_incidents",
  sql: `
    CREATE TABLE incidents (
      id            TEXT PRIMARY KEY,
      host_id       TEXT NOT NULL DEFAULT 'local',
      title         TEXT NOT NULL,
      severity      TEXT NOT NULL CHECK (severity IN ('critical', 'major', 'minor', 'info')),
      status        TEXT NOT NULL CHECK (status IN (
        'open', 'investigating', 'identified', 'monitoring', 'resolved'
      )),
      description   TEXT,
      commander     TEXT,
      source        TEXT NOT NULL CHECK (source IN ('manual', 'monitor', 'alert')),
      source_id     TEXT, -- the monitor or the alert rule
      cause_id      TEXT UNIQUE, -- the outage or the alert event
      -- Whether it is resolved when its cause ends; 0 once it has been resolved.
      follows_cause INTEGER NOT NULL CHECK (follows_cause IN (0, 1)),
      created_by    TEXT NOT NULL,
      created_at    TEXT NOT NULL, -- ISO 8601, UTC
      updated_at    TEXT NOT NULL,
      resolved_at   TEXT,
      CHECK ((resolved_at IS NOT NULL) = (status = 'resolved')),
      CHECK ((source = 'manual') = (source_id IS NULL)),
      CHECK ((source_id IS NULL) = (cause_id IS NULL))
    ) STRICT;
    CREATE INDEX incidents_by_time ON incidents (created_at DESC, id);
    CREATE INDEX incidents_by_status ON incidents (status, created_at DESC, id);
    CREATE INDEX incidents_following ON incidents (id) WHERE follows_cause = 1;

    CREATE TABLE incident_timeline (
      id          TEXT PRIMARY KEY,
      incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
      type        TEXT NOT NULL CHECK (type IN ('note', 'action', 'update', 'status_change')),
      message     TEXT NOT NULL,
      author      TEXT NOT NULL,
      created_at  TEXT NOT NULL
    ) STRICT;
    CREATE INDEX incident_timeline_by_incident ON incident_timeline (incident_id, created_at);
  `,
};
