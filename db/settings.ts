/** The `settings` table: single values of the installation. @module */

import type { Database } from "./database.ts";

/** A value, or `undefined` when it was never set. */
export function selectSetting(db: Database, name: string): string | undefined {
  return db.get<{ value: string }>("SELECT value FROM settings WHERE name = :name", { name })
    ?.value;
}

export function upsertSetting(db: Database, name: string, value: string): void {
  db.run(
    `INSERT INTO settings (name, value) VALUES (:name, :value)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    { name, value },
  );
}

/** @returns Whether it was set. */
export function deleteSetting(db: Database, name: string): boolean {
  return db.run("DELETE FROM settings WHERE name = :name", { name }) > 0;
}
