/**
 * Copies whole databases while other processes write to them.
 *
 * @module
 */

import { backup, type DatabaseSync } from "node:sqlite";
import {
  assertIntegrity,
  connectReader,
  type Database,
  DatabaseFileError,
  sizeOf,
} from "./database.ts";

/** Copies all pages in one step: the copy is consistent, and no writer can restart it. */
const ALL_PAGES = -1;

/**
 * Copies a consistent snapshot of a database into a new file. Other processes continue to read and
 * write; this thread is blocked.
 *
 * @throws {DatabaseFileError} If the file is missing, empty or not a database.
 */
export async function copyDatabase(source: string, target: string): Promise<void> {
  if (sizeOf(source) === 0) {
    throw new DatabaseFileError(`${source} is empty, not a database`);
  }
  let connection: DatabaseSync | undefined;
  try {
    connection = connectReader(source);
    await backup(connection, target, { rate: ALL_PAGES });
  } catch (error) {
    throw new DatabaseFileError(
      `${source} cannot be copied: ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  } finally {
    connection?.close();
  }
}

/**
 * Checks all of a database for damage.
 *
 * @param path The path in error messages.
 * @throws {DatabaseFileError} If it is damaged.
 */
export function assertUndamaged(db: Database, path: string): void {
  try {
    assertIntegrity(db, path);
  } catch (error) {
    if (error instanceof DatabaseFileError) throw error;
    throw new DatabaseFileError(`${path} is damaged: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
