import type { Migration } from "../../migrate.ts";

// `user_id` is not a foreign key: in key mode the owner is `key`, which has no row.
export const migration: Migration = {
  name: "0003_api_tokens",
  sql: `
    CREATE TABLE api_tokens (
      id                TEXT PRIMARY KEY,
      user_id           TEXT NOT NULL,
      name              TEXT NOT NULL,
      token_hash        TEXT NOT NULL UNIQUE, -- SHA-256, base64url
      role              TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
      permissions       TEXT, -- JSON array; NULL: all of the role
      stacks            TEXT, -- JSON array of patterns; NULL: all
      containers        TEXT, -- JSON array of patterns; NULL: all
      created_at        TEXT NOT NULL, -- ISO 8601, UTC
      rotated_at        TEXT,
      expires_at        TEXT, -- NULL: never
      last_used_at      TEXT,
      last_used_address TEXT
    ) STRICT;
    CREATE INDEX api_tokens_by_user ON api_tokens (user_id);
    CREATE TRIGGER api_tokens_of_deleted_user AFTER DELETE ON users BEGIN
      DELETE FROM api_tokens WHERE user_id = old.id;
    END;
  `,
};
