/**
 * The state database beside a running service, or without one.
 *
 * @module
 */

import { join } from "node:path";
import { DatabaseFileError, openStateDatabase, type StateDatabase } from "../db/database.ts";
import { migrate, pendingMigrations } from "../db/migrate.ts";
import { stateMigrations } from "../db/migrations/state/mod.ts";
import { assertNoLinks, lockDirectory, STATE_FILE } from "./data_directory.ts";
import { CommandError } from "./program.ts";
import { actAsOwner } from "./data_owner.ts";
import { isPlanned } from "./replacement.ts";

/**
 * Opens the state database whether the service runs or not. One of an older version is brought up
 * to date, unless the service runs: then it is that version's.
 *
 * @throws {CommandError} When there is none, or it cannot be used; the message says what to do.
 */
export function openStateBeside(dataDir: string): StateDatabase {
  const path = join(dataDir, STATE_FILE);
  assertThere(path, dataDir);
  let db: StateDatabase | undefined;
  try {
    db = openStateDatabase(path);
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
 * Runs what works on an open database, and closes it.
 *
 * @throws {CommandError} Where SQLite fails.
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
    // node:sqlite gives its failures a code; the usual ones here are a full disk and a missing right.
    if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error;
    const reason = (error as Error).message;
    throw new CommandError(`${join(dataDir, STATE_FILE)}: ${reason}`, { cause: error });
  } finally {
    db.close();
  }
}

/**
 * Makes sure that there is a whole installation: a wrong `DATA_DIR` must not look like an empty
 * one, and the middle of a restore not like the end of it.
 *
 * @throws {CommandError} When there is none.
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
    const reason = (error as Error).message;
    throw new CommandError(`DATA_DIR=${dataDir} cannot be used: ${reason}`, { cause: error });
  }
}
