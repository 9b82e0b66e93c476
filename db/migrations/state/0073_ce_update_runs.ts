import type { Migration } from "../../migrate.ts";

// Names instead of ids: an update changes the id, and what is known of a container survives it.
export const migration: Migration = {
  name: "0073_ce_update_runs",
  sql: `
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
