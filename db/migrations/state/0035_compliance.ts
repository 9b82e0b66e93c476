import type { Migration } from "../../migrate.ts";

// The sequence of an entry is its place in the chain: from 1 without gaps, never shown and not
// hashed. As the primary key it prevents forks: two entries with the same predecessor would share
// it. The head is written with each entry, so that a truncated log is detected. Triggers maintain
// the counts, so that statistics need not read a million rows. Entries are deleted only from the
// beginning, after an anchor has recorded the hash of the last deleted one, where the remaining
// chain continues. Each filter of the log has an index that includes the time, because the newest
// entries come first.
export const migration: Migration = {
  name: "0035_compliance",
  sql: `
    CREATE TABLE compliance_logs (
      sequence      INTEGER PRIMARY KEY,
      id            TEXT NOT NULL UNIQUE,
      event_id      TEXT NOT NULL,
      category      TEXT NOT NULL CHECK (category IN ('authentication', 'authorization',
                      'configuration', 'data', 'container', 'system', 'security')),
      severity      TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error', 'critical')),
      actor_id      TEXT NOT NULL,
      actor_type    TEXT NOT NULL CHECK (actor_type IN ('user', 'system', 'api_key', 'agent')),
      action        TEXT NOT NULL,
      resource_type TEXT,
      resource_id   TEXT,
      detail        TEXT,
      outcome       TEXT NOT NULL CHECK (outcome IN ('success', 'failure')),
      metadata      TEXT CHECK (json_type(metadata) = 'object'), -- RFC 8785
      recorded_by   TEXT, -- the caller that added it through the API; NULL for the service itself
      previous_hash TEXT NOT NULL,
      entry_hash    TEXT NOT NULL,
      created_at    TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
    CREATE INDEX compliance_logs_by_time ON compliance_logs (created_at);
    CREATE INDEX compliance_logs_by_category ON compliance_logs (category, created_at);
    CREATE INDEX compliance_logs_by_severity ON compliance_logs (severity, created_at);
    CREATE INDEX compliance_logs_by_outcome ON compliance_logs (outcome, created_at);
    CREATE INDEX compliance_logs_by_actor ON compliance_logs (actor_id, created_at);
    CREATE INDEX compliance_logs_by_action ON compliance_logs (action, created_at);

    CREATE TABLE compliance_head (
      id       INTEGER PRIMARY KEY CHECK (id = 1),
      sequence INTEGER NOT NULL, -- of the last entry; the number of entries ever written
      hash     TEXT NOT NULL
    ) STRICT;
    INSERT INTO compliance_head VALUES
      (1, 0, 'sha256:0000000000000000000000000000000000000000000000000000000000000000');

    CREATE TABLE compliance_anchors (
      entry_id   TEXT PRIMARY KEY, -- the entry of the log that recorded the deletion
      sequence   INTEGER NOT NULL, -- of the last deleted entry
      hash       TEXT NOT NULL,
      created_at TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
    CREATE INDEX compliance_anchors_by_sequence ON compliance_anchors (sequence);

    CREATE TABLE compliance_counts (
      category TEXT NOT NULL,
      severity TEXT NOT NULL,
      outcome  TEXT NOT NULL,
      entries  INTEGER NOT NULL,
      PRIMARY KEY (category, severity, outcome)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE compliance_config (
      id             INTEGER PRIMARY KEY CHECK (id = 1),
      enabled        INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      retention_days INTEGER NOT NULL CHECK (retention_days BETWEEN 1 AND 3650),
      hash_algorithm TEXT NOT NULL CHECK (hash_algorithm = 'sha256'),
      log_api_reads  INTEGER NOT NULL CHECK (log_api_reads IN (0, 1)),
      export_format  TEXT NOT NULL CHECK (export_format IN ('json', 'csv'))
    ) STRICT;
    INSERT INTO compliance_config VALUES (1, 1, 365, 'sha256', 0, 'json');

    CREATE TRIGGER compliance_logs_grow_at_the_end BEFORE INSERT ON compliance_logs
    WHEN NOT EXISTS (SELECT 1 FROM compliance_head
      WHERE sequence + 1 = new.sequence AND hash = new.previous_hash)
    BEGIN SELECT RAISE(ABORT, 'a compliance log entry must follow the last one'); END;
    CREATE TRIGGER compliance_logs_inserted AFTER INSERT ON compliance_logs BEGIN
      INSERT INTO compliance_counts VALUES (new.category, new.severity, new.outcome, 1)
        ON CONFLICT DO UPDATE SET entries = entries + 1;
    END;

    CREATE TRIGGER compliance_logs_never_change BEFORE UPDATE ON compliance_logs
    BEGIN SELECT RAISE(ABORT, 'a compliance log entry never changes'); END;

    CREATE TRIGGER compliance_logs_are_kept BEFORE DELETE ON compliance_logs
    WHEN old.sequence > (SELECT coalesce(max(sequence), 0) FROM compliance_anchors)
    BEGIN SELECT RAISE(ABORT, 'a compliance log entry is deleted by retention only'); END;
    CREATE TRIGGER compliance_logs_deleted AFTER DELETE ON compliance_logs BEGIN
      UPDATE compliance_counts SET entries = entries - 1
        WHERE category = old.category AND severity = old.severity AND outcome = old.outcome;
    END;

    CREATE TRIGGER compliance_head_stays BEFORE DELETE ON compliance_head
    BEGIN SELECT RAISE(ABORT, 'the head of the compliance log stays'); END;
    CREATE TRIGGER compliance_anchors_stay BEFORE DELETE ON compliance_anchors
    BEGIN SELECT RAISE(ABORT, 'the anchors of the compliance log stay'); END;
  `,
};
