// Keys that replace others: both are valid until the new one was used.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0067_fleet_next_keys",
  sql: `
    -- Of this installation.
    CREATE TABLE fleet_next_keys (
      purpose      TEXT PRIMARY KEY CHECK (purpose IN ('link', 'note')),
      public_key   TEXT NOT NULL, -- base64url
      private_key  TEXT NOT NULL, -- sealed
      created_at   TEXT NOT NULL,
      is_confirmed INTEGER NOT NULL CHECK (is_confirmed IN (0, 1)) -- whether the hub has stored it
    ) STRICT;

    -- At a hub: those that a host has announced.
    CREATE TABLE fleet_host_next_keys (
      host_id  TEXT PRIMARY KEY REFERENCES fleet_hosts (id) ON DELETE CASCADE,
      link_key TEXT NOT NULL UNIQUE, -- X25519, base64url
      note_key TEXT NOT NULL         -- Ed25519, base64url
    ) STRICT;
  `,
};
