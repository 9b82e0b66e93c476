/**
 * `DATA_DIR`: makes it, keeps it to one process, opens the databases in it.
 *
 * @module
 */

import { join } from "node:path";
import {
  DatabaseFileError,
  type MetricsDatabase,
  openMetricsDatabase,
  openStateDatabase,
  type StateDatabase,
} from "../db/database.ts";
import { migrate } from "../db/migrate.ts";
import { metricsMigrations, stateMigrations } from "../db/migrations/mod.ts";
import type { Log } from "../services/log.ts";
import { CommandError } from "./program.ts";

export const STATE_FILE = "state.sqlite";
export const METRICS_FILE = "metrics.sqlite";
const LOCK_FILE = "longshore.lock";

/** The open directory; closing it lets another process in. */
export interface DataDirectory extends Disposable {
  db: StateDatabase;
  metrics: MetricsDatabase;
}

/**
 * Opens the directory with its databases, brought up to the newest schema.
 *
 * @throws {CommandError} When it cannot be used; the message says what to do.
 */
export function openDataDirectory(path: string, log: Log): DataDirectory {
  const lock = lockDirectory(path);
  let db: StateDatabase | undefined;
  try {
    db = openState(join(path, STATE_FILE));
    const metrics = openMetrics(join(path, METRICS_FILE), log);
    const opened = db;
    return {
      db,
      metrics,
      [Symbol.dispose]() {
        metrics.close();
        opened.close();
        lock.close();
      },
    };
  } catch (error) {
    db?.close();
    lock.close();
    throw error;
  }
}

/** The lock goes with the process, however that ends. */
function lockDirectory(path: string): Deno.FsFile {
  try {
    // Everything in it is for the service alone.
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = Deno.openSync(join(path, LOCK_FILE), { create: true, write: true, mode: 0o600 });
    if (lock.tryLockSync(true)) return lock;
    lock.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`DATA_DIR=${path} cannot be used: ${reason}`, { cause: error });
  }
  throw new CommandError(`DATA_DIR=${path} is in use by another Longshore`);
}

function openState(path: string): StateDatabase {
  try {
    const db = openStateDatabase(path);
    migrate(db, stateMigrations);
    return db;
  } catch (error) {
    if (!(error instanceof DatabaseFileError)) throw error;
    throw new CommandError(
      `${error.message}. Restore a backup over it, or move ${path} away to begin anew`,
      { cause: error },
    );
  }
}

/** Samples may be lost: a damaged file is set aside and begun anew. */
function openMetrics(path: string, log: Log): MetricsDatabase {
  try {
    return migrated(openMetricsDatabase(path));
  } catch (error) {
    if (!(error instanceof DatabaseFileError)) throw error;
    const aside = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, "-")}`;
    for (const suffix of ["", "-wal", "-shm"]) renameIfThere(path + suffix, aside + suffix);
    log.warn("metrics database begun anew", { reason: error.message, kept: aside });
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
