import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0018_registries",
  sql: `
    CREATE TABLE registries (
      id              TEXT PRIMARY KEY,
      host            TEXT NOT NULL, -- with the port, if it has one
      path_prefix     TEXT NOT NULL, -- empty: the whole host
      username        TEXT,
      sealed_password TEXT, -- encrypted
      insecure        INTEGER NOT NULL CHECK (insecure IN (0, 1)),
      ca_certificate  TEXT, -- PEM
      created_at      TEXT NOT NULL, -- ISO 8601, UTC
      updated_at      TEXT NOT NULL,
      UNIQUE (host, path_prefix),
      CHECK (sealed_password IS NULL OR username IS NOT NULL)
    ) STRICT;
  `,
};
