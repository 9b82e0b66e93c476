/**
 * Copies of whole databases, taken while others write to them.
 *
 * @module
 */

import { backup, DatabaseSync } from "node:sqlite";
import { assertIntegrity, type Database, DatabaseFileError, sizeOf } from "./database.ts";

/** All pages in one step, so that the copy is of one moment and no writer can have it begin anew. */
const ALL_PAGES = -1;

/**
 * Copies a database into a new file, as it is at one moment. Other processes go on reading and
 * writing; this thread waits.
 *
 * @throws {DatabaseFileError} When the file is missing, empty, or is no database.
 */
export async function copyDatabase(source: string, target: string): Promise<void> {
  if (sizeOf(source) === 0) {
    throw new DatabaseFileError(`${source} is empty although it should be a database`);
  }
  let connection: DatabaseSync | undefined;
  try {
    // Without a write-ahead log nobody has it open: then the last to close it has to tidy up,
    // which a reader cannot.
    connection = new DatabaseSync(source, { readOnly: sizeOf(`${source}-wal`) !== undefined });
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
 * Reads all of a database for damage.
 *
 * @param path How a failure names it.
 * @throws {DatabaseFileError} When it is damaged.
 */
export function assertWhole(db: Database, path: string): void {
  try {
    assertIntegrity(db, path);
  } catch (error) {
    if (error instanceof DatabaseFileError) throw error;
    throw new DatabaseFileError(`${path} is damaged: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
