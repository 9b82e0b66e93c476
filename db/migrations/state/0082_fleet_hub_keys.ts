// A hub replaces its key for links. Hosts that were away meanwhile dial with a former one, and in notes and
// boxes a hub has for each host the name under which that one has joined: its key of then.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0082_fleet_hub_keys",
  sql: `
    CREATE TABLE fleet_hub_keys (
      public_key  TEXT PRIMARY KEY, -- base64url
      private_key TEXT NOT NULL, -- sealed, for links
      created_at  TEXT NOT NULL
    ) STRICT;

    CREATE TABLE fleet_host_hub_keys (
      host_id TEXT PRIMARY KEY REFERENCES fleet_hosts (id) ON DELETE CASCADE,
      hub_key TEXT NOT NULL -- base64url
    ) STRICT;
    INSERT INTO fleet_host_hub_keys
      SELECT fleet_hosts.id, public_key FROM fleet_hosts, fleet_keys WHERE purpose = 'link';

    -- At a member: keys of its hub, the newest first.
    CREATE TABLE fleet_known_hub_keys (
      id   INTEGER PRIMARY KEY CHECK (id = 1),
      keys TEXT NOT NULL
    ) STRICT;
  `,
};
