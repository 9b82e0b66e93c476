/**
 * Brings a database file up to the newest schema.
 *
 * @module
 */

import { type Database, DatabaseFileError } from "./database.ts";

/** One step of the schema. A published step never changes: correct it with a later one. */
export interface Migration {
  /** Order and identity, e.g. `"0004_ce_schedules"`. Equal to the file name. */
  name: string;
  sql: string;
}

/**
 * Runs, in order, the migrations this file has not seen yet, each in its own transaction.
 *
 * @returns The names of the migrations that ran.
 * @throws {DatabaseFileError} When the file was written by a newer version.
 * @throws The SQLite error of the step that failed; the steps before it stay applied.
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
  return pending.map((migration) => migration.name);
}

/** Whether a file has seen the first of these migrations, and so is a database of theirs. */
export function hasSeen(db: Database, migrations: readonly Migration[]): boolean {
  // Other programs have tables of that name as well.
  const columns = db.all<{ name: string }>("SELECT name FROM pragma_table_info('migrations')");
  if (!columns.some(({ name }) => name === "name")) return false;
  const first = migrations[0]?.name ?? null;
  return db.get("SELECT 1 FROM migrations WHERE name = :first", { first }) !== undefined;
}

/**
 * The migrations that this file has not seen yet, in order.
 *
 * @throws {DatabaseFileError} When the file was written by a newer version, or by no version of
 * this program.
 */
export function pendingMigrations(
  db: Database,
  migrations: readonly Migration[],
): readonly Migration[] {
  const table = db.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'");
  if (!table) throw new DatabaseFileError("The database is none of this program");
  const applied = db.all<{ name: string }>("SELECT name FROM migrations").map((row) => row.name);
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length) {
    throw new DatabaseFileError(
      `The database was written by a newer version (it has ${unknown.join(", ")}); ` +
        "start that version, or restore a backup made by this one",
    );
  }
  const seen = new Set(applied);
  return migrations.filter((migration) => !seen.has(migration.name));
}
