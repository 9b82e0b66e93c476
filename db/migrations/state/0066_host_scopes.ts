import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0066_host_scopes",
  sql: `
    -- JSON arrays: patterns of names of hosts of the fleet, and labels of which a host has one; NULL for all.
    ALTER TABLE api_tokens ADD COLUMN hosts TEXT;
    ALTER TABLE api_tokens ADD COLUMN host_labels TEXT;
    ALTER TABLE custom_roles ADD COLUMN hosts TEXT;
    ALTER TABLE custom_roles ADD COLUMN host_labels TEXT;
  `,
};
