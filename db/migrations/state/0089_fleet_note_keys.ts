// A hub replaces its key for notes. Each host is signed for with the key that it has confirmed, and learns
// the next ones by the signature of the one before.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0089_fleet_note_keys",
  sql: `
    -- Former keys for notes of this hub.
    CREATE TABLE fleet_note_keys (
      public_key  TEXT PRIMARY KEY, -- base64url
      private_key TEXT NOT NULL, -- sealed, for notes
      created_at  TEXT NOT NULL,
      next_key    TEXT NOT NULL, -- the key that has replaced it
      signature   TEXT NOT NULL -- of this key, over the next one
    ) STRICT;

    CREATE TABLE fleet_host_note_keys (
      host_id  TEXT PRIMARY KEY REFERENCES fleet_hosts (id) ON DELETE CASCADE,
      note_key TEXT NOT NULL -- key of this hub that the host got when it joined
    ) STRICT;
    INSERT INTO fleet_host_note_keys
      SELECT fleet_hosts.id, public_key FROM fleet_hosts, fleet_keys WHERE purpose = 'note';

    -- At a member: keys for notes of its hub, the newest first.
    CREATE TABLE fleet_known_note_keys (
      id   INTEGER PRIMARY KEY CHECK (id = 1),
      keys TEXT NOT NULL
    ) STRICT;
  `,
};
