import type { Migration } from "../../migrate.ts";

// No table of checks refers to containers, so that ages and answers survive their recreation. Blocks
// and times have the names of containers instead of ids, because an update changes the id.
export const migration: Migration = {
  name: "0019_updates",
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
      jitter               REAL NOT NULL CHECK (jitter BETWEEN 0 AND 1),
      versions_reason      TEXT -- why versions may be missing
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE update_digests (
      image         TEXT NOT NULL,
      digest        TEXT NOT NULL,
      first_seen_at TEXT NOT NULL,
      last_seen_at  TEXT NOT NULL,
      announced_at  TEXT, -- when its event was sent
      platforms     TEXT, -- JSON, of an index; NULL until it was read
      -- A tag that moves from an index to another one needs no comparison with its content.
      kind          TEXT CHECK (kind IN ('index', 'image')), -- NULL if unknown
      PRIMARY KEY (image, digest)
    ) STRICT, WITHOUT ROWID;

    -- Digests of a registry that stand for the same content as an image of the engine.
    CREATE TABLE update_equal_digests (
      image_id TEXT NOT NULL,
      digest   TEXT NOT NULL,
      PRIMARY KEY (image_id, digest)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blocked_updates (
      id             TEXT PRIMARY KEY,
      container_name TEXT NOT NULL,
      digest         TEXT NOT NULL, -- of the manifest, or the image's id; '*' blocks all
      image          TEXT NOT NULL,
      reason         TEXT NOT NULL,
      job_id         TEXT NOT NULL,
      created_at     TEXT NOT NULL, -- ISO 8601, UTC
      UNIQUE (container_name, digest)
    ) STRICT;

    CREATE TABLE previous_images (
      id             TEXT PRIMARY KEY,
      container_name TEXT NOT NULL,
      image_id       TEXT NOT NULL,
      reference      TEXT NOT NULL, -- by which the container used it
      tag            TEXT NOT NULL, -- keeps the image from being pruned
      created_at     TEXT NOT NULL, -- ISO 8601, UTC
      UNIQUE (container_name, image_id)
    ) STRICT;
    CREATE INDEX previous_images_by_time ON previous_images (container_name, created_at);

    CREATE TABLE health_times (
      container_name TEXT PRIMARY KEY,
      longest_ms     INTEGER NOT NULL -- longest time from a start to healthy
    ) STRICT, WITHOUT ROWID;
  `,
};
