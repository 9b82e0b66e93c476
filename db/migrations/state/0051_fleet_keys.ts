// Made at the first need: an installation without a fleet has no rows here.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0051_fleet_keys",
  sql: `
    -- 'link': X25519, the identity of this installation. 'note': Ed25519, which signs notes.
    CREATE TABLE fleet_keys (
      purpose     TEXT PRIMARY KEY CHECK (purpose IN ('link', 'note')),
      public_key  TEXT NOT NULL, -- base64url
      private_key TEXT NOT NULL, -- sealed
      created_at  TEXT NOT NULL
    ) STRICT;
  `,
};
