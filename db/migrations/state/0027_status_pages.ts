import type { Migration } from "../../migrate.ts";

// An incident's first update has its first message. A component keeps its own status during a
// maintenance; the page shows `under_maintenance`. A notice is stored once for all subscribers: their
// messages in the outbox only refer to it.
export const migration: Migration = {
  name: "0027_status_pages",
  sql: `
    CREATE TABLE status_pages (
      id            TEXT PRIMARY KEY,
      slug          TEXT NOT NULL UNIQUE, -- does not change with the name
      name          TEXT NOT NULL,
      description   TEXT NOT NULL,
      is_public     INTEGER NOT NULL CHECK (is_public IN (0, 1)),
      custom_domain TEXT UNIQUE, -- in lower case
      theme         TEXT NOT NULL CHECK (json_valid(theme)),
      created_at    TEXT NOT NULL, -- ISO 8601, UTC
      updated_at    TEXT NOT NULL
    ) STRICT;

    CREATE TABLE status_page_components (
      id            TEXT PRIMARY KEY,
      page_id       TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
      name          TEXT NOT NULL,
      description   TEXT NOT NULL,
      status        TEXT NOT NULL CHECK (status IN (
        'operational', 'degraded_performance', 'partial_outage', 'major_outage',
        'under_maintenance'
      )),
      display_order INTEGER NOT NULL,
      group_name    TEXT,
      -- The status follows this monitor; without one it does not change by itself.
      monitor_id    TEXT REFERENCES uptime_monitors (id) ON DELETE SET NULL,
      created_at    TEXT NOT NULL,
      updated_at    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX status_page_components_by_page
      ON status_page_components (page_id, display_order, created_at, id);
    CREATE INDEX status_page_components_by_monitor
      ON status_page_components (monitor_id) WHERE monitor_id IS NOT NULL;

    CREATE TABLE status_page_incidents (
      id          TEXT PRIMARY KEY,
      page_id     TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
      title       TEXT NOT NULL,
      message     TEXT NOT NULL,
      severity    TEXT NOT NULL CHECK (severity IN ('minor', 'major', 'critical', 'maintenance')),
      status      TEXT NOT NULL
        CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
      created_at  TEXT NOT NULL,
      updated_at  TEXT NOT NULL,
      resolved_at TEXT CHECK ((resolved_at IS NOT NULL) = (status = 'resolved'))
    ) STRICT;
    CREATE INDEX status_page_incidents_by_page
      ON status_page_incidents (page_id, created_at DESC, id);
    CREATE INDEX status_page_incidents_by_end ON status_page_incidents (page_id, resolved_at);

    CREATE TABLE status_page_updates (
      id          TEXT PRIMARY KEY,
      incident_id TEXT NOT NULL REFERENCES status_page_incidents (id) ON DELETE CASCADE,
      status      TEXT NOT NULL
        CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
      message     TEXT NOT NULL, -- empty if only the status changed
      created_at  TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
    CREATE INDEX status_page_updates_by_incident ON status_page_updates (incident_id, created_at);

    CREATE TABLE status_page_maintenances (
      id         TEXT PRIMARY KEY,
      page_id    TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
      title      TEXT NOT NULL,
      message    TEXT NOT NULL,
      status     TEXT NOT NULL CHECK (status IN ('scheduled', 'in_progress', 'completed')),
      starts_at  TEXT NOT NULL, -- ISO 8601, UTC, like all times here
      ends_at    TEXT NOT NULL CHECK (ends_at > starts_at),
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX status_page_maintenances_by_page
      ON status_page_maintenances (page_id, starts_at DESC, id);
    CREATE INDEX status_page_maintenances_open
      ON status_page_maintenances (page_id) WHERE status <> 'completed';

    CREATE TABLE status_page_maintenance_components (
      maintenance_id TEXT NOT NULL REFERENCES status_page_maintenances (id) ON DELETE CASCADE,
      component_id   TEXT NOT NULL REFERENCES status_page_components (id) ON DELETE CASCADE,
      PRIMARY KEY (maintenance_id, component_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX status_page_maintenance_components_by_component
      ON status_page_maintenance_components (component_id);

    CREATE TABLE status_page_subscribers (
      id            TEXT PRIMARY KEY,
      page_id       TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
      kind          TEXT NOT NULL CHECK (kind IN ('email', 'webhook')),
      sealed        TEXT NOT NULL, -- encrypted: the address
      address_key   TEXT NOT NULL, -- keyed hash of the address, to detect duplicates
      token_hash    TEXT NOT NULL UNIQUE, -- hash of the confirmation token
      link_base     TEXT NOT NULL, -- base URL of the service at the time of subscription
      verified_at   TEXT,
      created_at    TEXT NOT NULL,
      sealed_secret TEXT, -- encrypted: signing secret; NULL: unsigned
      -- When a confirmation request was last sent; NULL for subscribers added through the API.
      asked_at      TEXT,
      UNIQUE (page_id, address_key)
    ) STRICT;
    CREATE INDEX status_page_subscribers_by_page
      ON status_page_subscribers (page_id, created_at DESC, id);

    CREATE TABLE status_page_notices (
      id         TEXT PRIMARY KEY,
      page_id    TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
      content    TEXT NOT NULL CHECK (json_valid(content)),
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX status_page_notices_by_page ON status_page_notices (page_id);
    CREATE INDEX status_page_notices_by_time ON status_page_notices (created_at);
  `,
};
