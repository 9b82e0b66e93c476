/** Access to the state database for commands, with or without a running service. @module */

import { join } from "node:path";
import {
  DatabaseFileError,
  extendBusyTimeout,
  openStateDatabase,
  type StateDatabase,
} from "../db/database.ts";
import { migrate, pendingMigrations } from "../db/migrate.ts";
import { stateMigrations } from "../db/migrations/state/mod.ts";
import { assertNoLinks, lockDirectory, STATE_FILE } from "./data_directory.ts";
import { CommandError, commandError } from "./program.ts";
import { actAsOwner } from "./data_owner.ts";
import { isPlanned } from "./replacement.ts";

/**
 * Opens the state database. A database of an older version is migrated unless the service, which is
 * then of that version, is running.
 *
 * @throws {CommandError} If there is none, or it cannot be used; the message says what to do.
 */
export function openStateBeside(dataDir: string): StateDatabase {
  const path = join(dataDir, STATE_FILE);
  assertThere(path, dataDir);
  let db: StateDatabase | undefined;
  try {
    db = openStateDatabase(path);
    extendBusyTimeout(db);
    if (pendingMigrations(db, stateMigrations).length > 0) {
      using _lock = lockDirectory(dataDir, "it is of an older version; stop it first");
      migrate(db, stateMigrations);
    }
    return db;
  } catch (error) {
    db?.close();
    if (!(error instanceof DatabaseFileError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}

/**
 * Opens the state database, runs `work` and closes it.
 *
 * @throws {CommandError} If SQLite fails.
 */
export async function withStateBeside<T>(
  dataDir: string,
  work: (db: StateDatabase) => T | Promise<T>,
): Promise<T> {
  using _owner = actAsOwner(dataDir);
  const db = openStateBeside(dataDir);
  try {
    return await work(db);
  } catch (error) {
    // Errors of node:sqlite have a code. Usual causes are a full disk and missing permissions.
    if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error;
    throw commandError(join(dataDir, STATE_FILE), error);
  } finally {
    db.close();
  }
}

/**
 * Makes sure that there is a complete installation: a wrong `DATA_DIR` must not look like an empty
 * one, and an unfinished restore not like a finished one.
 *
 * @throws {CommandError} If there is none.
 */
export function assertThere(path: string, dataDir: string): void {
  if (isPlanned(dataDir)) {
    throw new CommandError(
      `DATA_DIR=${dataDir} is in the middle of a restore; start the service, which finishes it`,
    );
  }
  try {
    Deno.statSync(path);
    assertNoLinks(dataDir);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new CommandError(
        `DATA_DIR=${dataDir} has no ${STATE_FILE}: give the DATA_DIR of the service ` +
          "(or its --env-file), or start it once",
      );
    }
    if (error instanceof CommandError) throw error;
    throw commandError(`DATA_DIR=${dataDir} cannot be used`, error);
  }
}
