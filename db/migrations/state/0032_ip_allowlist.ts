import type { Migration } from "../../migrate.ts";

// Triggers change the revision whenever a rule is added, changed or deleted. Caches of the rules
// compare it to detect changes, including those of other processes. It is random, so that the
// change after a rollback does not get the same revision. The rules for a user are deleted with the
// user by a trigger: a foreign key is not possible, because the user `key` is not in the table.
export const migration: Migration = {
  name: "0032_ip_allowlist",
  sql: `
    CREATE TABLE ip_rules (
      id          TEXT PRIMARY KEY,
      cidr        TEXT NOT NULL, -- an address or address/prefix, in its shortest form
      label       TEXT NOT NULL,
      description TEXT NOT NULL,
      enabled     INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      scope       TEXT NOT NULL CHECK (scope IN ('global', 'user')),
      scope_id    TEXT CHECK ((scope_id IS NOT NULL) = (scope = 'user')),
      expires_at  TEXT, -- ISO 8601, UTC
      created_at  TEXT NOT NULL,
      updated_at  TEXT NOT NULL
    ) STRICT;
    CREATE INDEX ip_rules_by_user ON ip_rules (scope_id) WHERE scope_id IS NOT NULL;

    CREATE TABLE ip_allowlist (
      id                  INTEGER PRIMARY KEY CHECK (id = 1),
      enforcement_enabled INTEGER NOT NULL CHECK (enforcement_enabled IN (0, 1)),
      log_denials         INTEGER NOT NULL CHECK (log_denials IN (0, 1)),
      revision            TEXT NOT NULL
    ) STRICT;
    INSERT INTO ip_allowlist VALUES (1, 0, 1, hex(randomblob(16)));

    CREATE TRIGGER ip_rules_inserted AFTER INSERT ON ip_rules BEGIN
      UPDATE ip_allowlist SET revision = hex(randomblob(16));
    END;
    CREATE TRIGGER ip_rules_updated AFTER UPDATE ON ip_rules BEGIN
      UPDATE ip_allowlist SET revision = hex(randomblob(16));
    END;
    CREATE TRIGGER ip_rules_deleted AFTER DELETE ON ip_rules BEGIN
      UPDATE ip_allowlist SET revision = hex(randomblob(16));
    END;
    CREATE TRIGGER ip_rules_of_deleted_user AFTER DELETE ON users BEGIN
      DELETE FROM ip_rules WHERE scope_id = OLD.id;
    END;
  `,
};
