/** `DATA_DIR`: creates and locks it, opens its databases, and lists its files. @module */

import { basename, dirname, join, resolve } from "node:path";
import {
  DatabaseFileError,
  type MetricsDatabase,
  openMetricsDatabase,
  openStateDatabase,
  shortenBusyTimeout,
  type StateDatabase,
} from "../db/database.ts";
import { migrate } from "../db/migrate.ts";
import { metricsMigrations } from "../db/migrations/metrics/mod.ts";
import { stateMigrations } from "../db/migrations/state/mod.ts";
import {
  BACKED_UP,
  METRICS_FILE,
  removeInterruptedDownloads,
  STATE_FILE,
} from "../services/backup/files.ts";
import type { Config } from "../services/config/config.ts";
import type { Log } from "../services/log.ts";
import { isThere, openRegularFile, writeNewFile } from "../services/secrets/private_file.ts";
import { CREDENTIALS_FILE } from "../services/access/setup/credentials_file.ts";
import { CommandError, commandError } from "./program.ts";
import { finishReplacement, PLAN_FILE } from "./replacement.ts";
import { describeService, LOCK_FILE } from "./running_service.ts";

export { BACKED_UP, METRICS_FILE, STATE_FILE };

const LOCK_ATTEMPTS = 4;

const LOCK_WAIT_MS = 50;

/** SQLite's files next to a database that is open, or was not closed. */
export const DATABASE_COMPANIONS: readonly string[] = [STATE_FILE, METRICS_FILE].flatMap((name) =>
  ["-wal", "-shm", "-journal"].map((suffix) => name + suffix)
);

const DATA_FILES: readonly string[] = [
  ...BACKED_UP,
  ...DATABASE_COMPANIONS,
  LOCK_FILE,
  PLAN_FILE,
  CREDENTIALS_FILE,
];

export function isDataFile(dataDir: string, path: string): boolean {
  return DATA_FILES.includes(basename(path)) &&
    realPath(dirname(resolve(path))) === realPath(dataDir);
}

/**
 * Refuses links in place of the service's files: they would lead the service, or commands of root,
 * out of the directory.
 *
 * @throws {CommandError} With the name of the first one.
 */
export function assertNoLinks(dataDir: string): void {
  for (const name of DATA_FILES) {
    const path = join(dataDir, name);
    if (!isThere(path) || !Deno.lstatSync(path).isSymlink) continue;
    throw new CommandError(`${path} is a symbolic link; put the file itself in its place`);
  }
}

/**
 * Opens the directory and its databases, which are migrated to the newest schema. The directory is
 * locked until the result is disposed.
 *
 * @throws {CommandError} If it cannot be used; the message says what to do.
 */
export function openDataDirectory(path: string, log: Log) {
  const lock = lockDirectory(path);
  let db: StateDatabase | undefined;
  try {
    removeInterruptedDownloads(path);
    if (finishRestore(path)) log.warn("interrupted restore finished");
    db = openState(join(path, STATE_FILE));
    const metrics = openMetrics(join(path, METRICS_FILE), log);
    const opened = db;
    shortenBusyTimeout(opened);
    shortenBusyTimeout(metrics);
    return {
      db,
      metrics,
      /** Describes this service for commands that run next to it. */
      describe: (config: Config, address: string) => describeService(lock, config, address),
      [Symbol.dispose]() {
        metrics.close();
        opened.close();
        lock.truncateSync(0);
        lock.close();
      },
    };
  } catch (error) {
    db?.close();
    lock.close();
    throw error;
  }
}

/**
 * Creates the directory and locks it. The lock ends with the process.
 *
 * @param advice What to do if another process has the lock.
 * @throws {CommandError} If another process has the lock, or the directory cannot be used.
 */
export function lockDirectory(path: string, advice?: string): Deno.FsFile {
  try {
    // Only the service may read it.
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    assertNoLinks(path);
    const file = join(path, LOCK_FILE);
    if (!isThere(file)) writeNewFile(file, "");
    const lock = openRegularFile(file, { write: true });
    if (tryLock(lock)) return lock;
    lock.close();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw commandError(`DATA_DIR=${path} cannot be used`, error);
  }
  throw new CommandError(
    `DATA_DIR=${path} is in use by another Longshore${advice ? `; ${advice}` : ""}`,
  );
}

/** Retries, because a command may hold the lock for a moment to check whether a service runs. */
function tryLock(lock: Deno.FsFile): boolean {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    if (lock.tryLockSync(true)) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_WAIT_MS);
  }
  return false;
}

/**
 * Finishes an interrupted restore, if there is one.
 *
 * @returns Whether there was one.
 * @throws {CommandError} If it cannot be finished.
 */
export function finishRestore(path: string): boolean {
  try {
    return finishReplacement(path);
  } catch (error) {
    throw commandError(
      `DATA_DIR=${path}: a restore was interrupted and cannot be finished`,
      error,
    );
  }
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return resolve(path);
  }
}

function openState(path: string): StateDatabase {
  try {
    const db = openStateDatabase(path);
    migrate(db, stateMigrations);
    return db;
  } catch (error) {
    if (!(error instanceof DatabaseFileError)) throw error;
    throw new CommandError(
      `${error.message}. Restore a backup over it, or move ${path} away to start with an empty one`,
      { cause: error },
    );
  }
}

/** Samples may be lost: a damaged file is renamed and replaced with an empty one. */
function openMetrics(path: string, log: Log): MetricsDatabase {
  try {
    return migrated(openMetricsDatabase(path));
  } catch (error) {
    if (!(error instanceof DatabaseFileError)) throw error;
    const aside = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, "-")}`;
    for (const suffix of ["", "-wal", "-shm"]) renameIfThere(path + suffix, aside + suffix);
    log.warn("damaged metrics database replaced by an empty one", {
      reason: error.message,
      kept: aside,
    });
    return migrated(openMetricsDatabase(path));
  }
}

function migrated(db: MetricsDatabase): MetricsDatabase {
  migrate(db, metricsMigrations);
  return db;
}

function renameIfThere(from: string, to: string): void {
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
