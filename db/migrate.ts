/** Migrates a database file to the newest schema. @module */

import { type Database, DatabaseFileError } from "./database.ts";

/** One step of the schema. A released migration never changes: correct it with a later one. */
export interface Migration {
  /** Unique name that determines the order, e.g. `0008_schedules`; equals the file name. */
  name: string;
  sql: string;
}

/** Names of migrations from before the first release, which were renumbered then. */
const UNRELEASED = /^\d{4}_(ce|pro|enterprise)_/;

/**
 * Applies the pending migrations in order, each in its own transaction.
 *
 * @returns The names of the applied migrations.
 * @throws {DatabaseFileError} If a newer version wrote the file.
 * @throws The SQLite error of a failed migration; the previous ones remain applied.
 */
export function migrate(db: Database, migrations: readonly Migration[]): string[] {
  db.exec(
    `CREATE TABLE IF NOT EXISTS migrations (
       name       TEXT PRIMARY KEY,
       applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
     ) STRICT`,
  );
  const pending = pendingMigrations(db, migrations);
  for (const { name, sql } of pending) {
    db.transaction(() => {
      db.exec(sql);
      db.run("INSERT INTO migrations (name) VALUES (:name)", { name });
    });
  }
  // They leave most of the pages in the cache.
  if (pending.length > 0) db.exec("PRAGMA shrink_memory");
  return pending.map((migration) => migration.name);
}

/** Whether the first of these migrations is applied, so that the file is such a database. */
export function isMigrated(db: Database, migrations: readonly Migration[]): boolean {
  // Databases of other programs may have a table of that name as well.
  const columns = db.all<{ name: string }>("SELECT name FROM pragma_table_info('migrations')");
  if (!columns.some(({ name }) => name === "name")) return false;
  const first = migrations[0]?.name ?? null;
  return db.get("SELECT 1 FROM migrations WHERE name = :first", { first }) !== undefined;
}

/**
 * The migrations that are not applied yet, in order.
 *
 * @throws {DatabaseFileError} If a newer or an unreleased version or another program wrote the file.
 */
export function pendingMigrations(
  db: Database,
  migrations: readonly Migration[],
): readonly Migration[] {
  const table = db.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'");
  if (!table) throw new DatabaseFileError("The file is not a database of this program");
  const applied = db.all<{ name: string }>("SELECT name FROM migrations").map((row) => row.name);
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.some((name) => UNRELEASED.test(name))) {
    throw new DatabaseFileError(
      "The database was written before the first release and cannot be migrated; " +
        "move it away to start with a new one",
    );
  }
  if (unknown.length) {
    throw new DatabaseFileError(
      `The database was written by a newer version (it has ${unknown.join(", ")}); ` +
        "start that version, or restore a backup made by this one",
    );
  }
  return migrations.filter((migration) => !applied.includes(migration.name));
}
