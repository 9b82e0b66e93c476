/** Detects whether another process wrote to a database file. @module */

import type { Database } from "./database.ts";

/**
 * A number that changes with each commit of another connection, but not of this one
 * (https://sqlite.org/pragma.html#pragma_data_version).
 */
export function selectDataVersion(db: Database): number {
  return db.get<{ data_version: number }>("PRAGMA data_version")!.data_version;
}
