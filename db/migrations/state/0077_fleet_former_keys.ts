// A hub that is restored from an older backup knows a member by the key before its last one.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0077_fleet_former_keys",
  sql: `
    CREATE TABLE fleet_former_keys (
      purpose     TEXT PRIMARY KEY CHECK (purpose = 'link'),
      public_key  TEXT NOT NULL, -- base64url
      private_key TEXT NOT NULL, -- sealed, for the purpose
      created_at  TEXT NOT NULL
    ) STRICT;
  `,
};
