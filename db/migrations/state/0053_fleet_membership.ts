// The hub of this installation, if it is a member of a fleet.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0053_fleet_membership",
  sql: `
    CREATE TABLE fleet_membership (
      id              INTEGER PRIMARY KEY CHECK (id = 1),
      address         TEXT NOT NULL, -- of the hub: https://… or http://…
      hub_key         TEXT NOT NULL, -- X25519, base64url
      hub_note_key    TEXT NOT NULL, -- Ed25519, base64url
      hub_name        TEXT NOT NULL,
      host_id         TEXT NOT NULL, -- that the hub has given
      name            TEXT NOT NULL, -- of this host at the hub
      is_pending      INTEGER NOT NULL CHECK (is_pending IN (0, 1)),
      challenge       INTEGER, -- the last one, and its proof
      challenge_proof TEXT,
      joined_at       TEXT NOT NULL
    ) STRICT;
  `,
};
