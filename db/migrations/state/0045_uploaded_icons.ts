import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0045_uploaded_icons",
  sql: `
    CREATE TABLE uploaded_icons (
      name       TEXT PRIMARY KEY, -- as labels of containers name it, without the extension
      url        TEXT NOT NULL,    -- the image as a data: URL
      created_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
