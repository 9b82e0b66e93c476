/** Copies whole databases while other processes write to them. @module */

import { backup, type DatabaseSync } from "node:sqlite";
import {
  assertIntegrity,
  BUSY_TIMEOUT_MS,
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

/**
 * The script of {@linkcode copyDatabaseAside}. It is a `data:` URL, because a compiled program cannot
 * load a worker from a file.
 */
const COPIER = "data:text/javascript," + encodeURIComponent(`
import { backup, DatabaseSync } from "node:sqlite";
onmessage = async ({ data: { source, target } }) => {
  try {
    const from = new DatabaseSync(source, { readOnly: true });
    from.exec("PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}");
    await backup(from, target, { rate: ${ALL_PAGES} });
    from.close();
    const copy = new DatabaseSync(target);
    const { integrity_check } = copy.prepare("PRAGMA integrity_check(1)").get();
    copy.close();
    if (integrity_check !== "ok") throw new Error("it is damaged: " + integrity_check);
    postMessage(null);
  } catch (error) {
    postMessage(error.message);
  }
};`);

/**
 * Copies a consistent snapshot of a database that this process uses into a new file, in a thread of
 * its own, and checks the copy for damage.
 *
 * @throws {DatabaseFileError} If it cannot be copied, or is damaged.
 */
export async function copyDatabaseAside(source: string, target: string): Promise<void> {
  const worker = new Worker(COPIER, { type: "module" });
  try {
    const problem = await new Promise<string | null>((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        // An unhandled error in a worker would end the whole process.
        event.preventDefault();
        resolve(event.message);
      };
      worker.postMessage({ source, target });
    });
    if (problem !== null) throw new DatabaseFileError(`${source} cannot be copied: ${problem}`);
  } finally {
    worker.terminate();
  }
}
