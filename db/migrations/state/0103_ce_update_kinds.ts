import type { Migration } from "../../migrate.ts";

// A tag that moves from an index to another one needs no comparison with its content.
export const migration: Migration = {
  name: "0103_ce_update_kinds",
  sql: `
    ALTER TABLE update_digests ADD COLUMN kind TEXT CHECK (kind IN ('index', 'image')); -- NULL if unknown
    ALTER TABLE update_images ADD COLUMN versions_reason TEXT; -- why versions may be missing
  `,
};
