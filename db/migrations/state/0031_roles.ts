import type { Migration } from "../../migrate.ts";

// The assignments of a user are deleted with the user by a trigger: a foreign key is not possible,
// because the user `key` is not in the table.
export const migration: Migration = {
  name: "0031_roles",
  sql: `
    CREATE TABLE custom_roles (
      id          TEXT PRIMARY KEY,
      name        TEXT NOT NULL,
      name_key    TEXT NOT NULL UNIQUE, -- in lower case, for comparison
      description TEXT NOT NULL,
      priority    INTEGER NOT NULL,
      created_at  TEXT NOT NULL, -- ISO 8601, UTC
      updated_at  TEXT NOT NULL
    ) STRICT;
    CREATE INDEX custom_roles_by_priority ON custom_roles (priority DESC, name_key, id);

    CREATE TABLE custom_role_permissions (
      role_id  TEXT NOT NULL REFERENCES custom_roles (id) ON DELETE CASCADE,
      resource TEXT NOT NULL, -- '*': all
      action   TEXT NOT NULL, -- '*': all
      PRIMARY KEY (role_id, resource, action)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE custom_role_assignments (
      user_id     TEXT NOT NULL,
      role_id     TEXT NOT NULL REFERENCES custom_roles (id) ON DELETE CASCADE,
      assigned_at TEXT NOT NULL,
      assigned_by TEXT NOT NULL, -- a user's id; the user may have been deleted
      PRIMARY KEY (user_id, role_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX custom_role_assignments_by_role
      ON custom_role_assignments (role_id, assigned_at DESC, user_id);

    CREATE TRIGGER custom_role_assignments_end_with_user AFTER DELETE ON users BEGIN
      DELETE FROM custom_role_assignments WHERE user_id = OLD.id;
    END;
  `,
};
