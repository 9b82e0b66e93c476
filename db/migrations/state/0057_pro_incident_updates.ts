import type { Migration } from "../../migrate.ts";

// The last message of an existing incident becomes its only update, with the id of the incident.
// Existing subscribers have no secret and receive unsigned notices.
export const migration: Migration = {
  name: "0057_pro_incident_updates",
  sql: `
    CREATE TABLE status_page_updates (
      id          TEXT PRIMARY KEY,
      incident_id TEXT NOT NULL REFERENCES status_page_incidents (id) ON DELETE CASCADE,
      status      TEXT NOT NULL
        CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
      message     TEXT NOT NULL, -- empty if only the status changed
      created_at  TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
    CREATE INDEX status_page_updates_by_incident ON status_page_updates (incident_id, created_at);

    INSERT INTO status_page_updates (id, incident_id, status, message, created_at)
      SELECT id, id, status, message, updated_at FROM status_page_incidents;

    ALTER TABLE status_page_subscribers ADD COLUMN sealed_secret TEXT; -- encrypted: signing secret
  `,
};
