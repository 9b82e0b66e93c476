// Verdicts that a member reports to its hub, and images that the fleet has blocked. The text of a block
// is what the hub has signed; the other columns are read from it.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0068_fleet_blocks",
  sql: `
    CREATE TABLE update_verdicts (
      id             TEXT PRIMARY KEY,
      outcome        TEXT NOT NULL CHECK (outcome IN ('success', 'failure')),
      digest         TEXT NOT NULL, -- of the manifest
      platform       TEXT NOT NULL, -- such as linux/amd64
      image          TEXT NOT NULL, -- reference
      image_id       TEXT NOT NULL,
      container_name TEXT NOT NULL,
      reason         TEXT NOT NULL,
      log            TEXT NOT NULL, -- JSON array of lines
      created_at     TEXT NOT NULL
    ) STRICT;

    CREATE TABLE fleet_blocks (
      -- 'own': signed by this hub; 'hub': by the hub of this member
      source     TEXT NOT NULL CHECK (source IN ('own', 'hub')),
      digest     TEXT NOT NULL,
      platform   TEXT NOT NULL,
      number     INTEGER NOT NULL, -- grows with each change
      is_blocked INTEGER NOT NULL CHECK (is_blocked IN (0, 1)), -- 0: a person has lifted it
      text       TEXT NOT NULL,
      PRIMARY KEY (source, digest, platform)
    ) STRICT;

    -- Whether the hub has said that members ask it before automatic updates.
    ALTER TABLE fleet_membership ADD COLUMN asks_hub INTEGER NOT NULL DEFAULT 0
      CHECK (asks_hub IN (0, 1));
  `,
};
