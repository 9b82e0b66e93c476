import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0030_branding",
  sql: `
    CREATE TABLE brands (
      id              TEXT PRIMARY KEY,
      name            TEXT NOT NULL,
      app_name        TEXT NOT NULL,
      logo_url        TEXT,
      logo_dark_url   TEXT,
      email_logo_url  TEXT,
      primary_color   TEXT, -- #rgb or #rrggbb
      secondary_color TEXT,
      accent_color    TEXT,
      font_family     TEXT,
      custom_css      TEXT,
      is_active       INTEGER NOT NULL CHECK (is_active IN (0, 1)),
      created_at      TEXT NOT NULL, -- ISO 8601, UTC
      updated_at      TEXT NOT NULL
    ) STRICT;
    -- At most one is active.
    CREATE UNIQUE INDEX brands_active ON brands (is_active) WHERE is_active = 1;
  `,
};
