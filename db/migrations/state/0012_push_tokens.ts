import type { Migration } from "../../migrate.ts";

// A token identifies one app on one device. `user_id` is not a foreign key: in key mode the owner
// is `key`, which has no row. A device registered by another user gets a new id, so that messages
// queued for the former owner do not reach the new one.
export const migration: Migration = {
  name: "0012_push_tokens",
  sql: `
    CREATE TABLE push_tokens (
      id            TEXT PRIMARY KEY,
      token_key     TEXT NOT NULL UNIQUE CHECK (length(token_key) BETWEEN 1 AND 255), -- keyed hash
      user_id       TEXT NOT NULL, -- the user of the device
      registered_at TEXT NOT NULL, -- when the device last said so; ISO 8601, UTC
      sealed        TEXT NOT NULL -- encrypted: the token
    ) STRICT;
    CREATE INDEX push_tokens_by_user ON push_tokens (user_id, registered_at);

    CREATE TRIGGER push_tokens_of_deleted_users AFTER DELETE ON users BEGIN
      DELETE FROM push_tokens WHERE user_id = OLD.id;
    END;
  `,
};
