import type { Migration } from "../../migrate.ts";

// Providers that share a redirect URI are told apart by the issuer in their answers; the first one
// may send none.
export const migration: Migration = {
  name: "0046_oidc_callbacks",
  sql: `
    ALTER TABLE oidc_providers
      ADD COLUMN callback TEXT NOT NULL DEFAULT 'shared' -- of the first provider
        CHECK (callback IN ('shared', 'issuer', 'own')); -- issuer: shared, and answers name it
  `,
};
