// The other direction of a link: a hub dials a host, which waits for it with a token first.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0075_fleet_dialled",
  sql: `
    ALTER TABLE fleet_hosts ADD COLUMN dial_address TEXT; -- that this hub dials; NULL if the host does
    CREATE TABLE fleet_listening (
      id         INTEGER PRIMARY KEY CHECK (id = 1),
      token_id   TEXT NOT NULL,
      secret     TEXT NOT NULL, -- sealed
      name       TEXT NOT NULL, -- of this host
      machine    TEXT NOT NULL,
      expires_at TEXT NOT NULL
    ) STRICT;
  `,
};
