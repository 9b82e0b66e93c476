import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0054_audit_hubs",
  sql: `
    -- JSON: id and name of the hub that passed the request on, and the name of its user. NULL: a direct request.
    ALTER TABLE audit_entries ADD COLUMN hub TEXT;
  `,
};
