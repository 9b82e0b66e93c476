import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0044_clients_of_sign_ins",
  sql: `
    -- The address group that began it: one that begins many does not drop those of others.
    ALTER TABLE oidc_requests ADD COLUMN client TEXT NOT NULL DEFAULT '';
    ALTER TABLE saml_requests ADD COLUMN client TEXT NOT NULL DEFAULT '';
  `,
};
