import type { Migration } from "../../migrate.ts";

// Nothing here refers to containers, so that ages and answers survive their recreation.
export const migration: Migration = {
  name: "0069_ce_updates",
  sql: `
    CREATE TABLE update_images (
      image                TEXT PRIMARY KEY, -- canonical reference, with its tag
      latest_digest        TEXT, -- of the last successful check
      newer_versions       TEXT NOT NULL, -- JSON
      reason               TEXT, -- why the last check failed; NULL if it succeeded
      rate_limit_remaining INTEGER,
      checked_at           TEXT NOT NULL, -- ISO 8601, UTC
      last_good_at         TEXT,
      retry_at             TEXT, -- after a failure
      jitter               REAL NOT NULL CHECK (jitter BETWEEN 0 AND 1)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE update_digests (
      image         TEXT NOT NULL,
      digest        TEXT NOT NULL,
      first_seen_at TEXT NOT NULL,
      last_seen_at  TEXT NOT NULL,
      announced_at  TEXT, -- when its event was sent
      platforms     TEXT, -- JSON, of an index; NULL until it was read
      PRIMARY KEY (image, digest)
    ) STRICT, WITHOUT ROWID;

    -- Digests of a registry that stand for the same content as an image of the engine.
    CREATE TABLE update_equal_digests (
      image_id TEXT NOT NULL,
      digest   TEXT NOT NULL,
      PRIMARY KEY (image_id, digest)
    ) STRICT, WITHOUT ROWID;
  `,
};
