import type { Migration } from "../../migrate.ts";

// A component keeps its own status during a maintenance; the page shows `under_maintenance`.
export const migration: Migration = {
  name: "0058_pro_maintenances",
  sql: `
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

    -- When a confirmation request was last sent; NULL for subscribers added through the API.
    ALTER TABLE status_page_subscribers ADD COLUMN asked_at TEXT;
  `,
};
