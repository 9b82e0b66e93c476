/**
 * The SQLite connections of the process. The only module that uses the driver, besides `backup.ts`.
 *
 * @module
 */

import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** Values bound to the named parameters (`:name`) of a statement. */
export type Params = Record<string, SQLInputValue>;

/** A connection with its statement cache. Every query module takes one as its first argument. */
export interface Database {
  /** All rows of a query. */
  all<Row>(sql: string, params?: Params): Row[];
  /** The first row of a query, or `undefined`. */
  get<Row>(sql: string, params?: Params): Row | undefined;
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, params?: Params): number;
  /** Runs several statements, without parameters. */
  exec(sql: string): void;
  /**
   * Commits the changes of `work`, or rolls them back if it throws. `work` is synchronous;
   * transactions do not nest.
   */
  transaction<T>(work: () => T): T;
  close(): void;
}

declare const kind: unique symbol;

/** Configuration and records that must not be lost: a commit is on disk when it returns. */
export type StateDatabase = Database & { readonly [kind]: "state" };

/** Samples and check results: fast, but a power failure may lose the last commits. */
export type MetricsDatabase = Database & { readonly [kind]: "metrics" };

/** A database file that cannot be used; the message says why. */
export class DatabaseFileError extends Error {
  override readonly name = "DatabaseFileError";
}

/** Longest wait for a lock of another process (a backup, an open shell), in milliseconds. */
export const BUSY_TIMEOUT_MS = 5_000;

/** Suffixes of the files next to a database that SQLite needs to read it. */
const LOG_SUFFIXES = ["-wal", "-journal"];

/** https://sqlite.org/fileformat2.html#walformat: its salts change whenever the log restarts. */
const WAL_HEADER_BYTES = 32;

/** Number of attempts to copy a database that changes in the meantime. */
const COPY_TRIES = 5;

/** The same while requests are served, all of which this blocks. */
const SERVING_BUSY_TIMEOUT_MS = 50;

/** The same for a command: SQLite has no queue, so that a service that writes all the time is ahead. */
const COMMAND_BUSY_TIMEOUT_MS = 60_000;

/** Value of the pragma `auto_vacuum`. */
const INCREMENTAL = 2;

/**
 * Opens `state.sqlite`, or an in-memory database for `":memory:"`, with the content of a file if given.
 *
 * @throws {DatabaseFileError} If the file is damaged or not a database.
 */
export function openStateDatabase(path: string, content?: Uint8Array): StateDatabase {
  return openChecked(path, "FULL", content) as StateDatabase;
}

/**
 * Opens `metrics.sqlite`, or an in-memory database like {@linkcode openStateDatabase}.
 *
 * @throws {DatabaseFileError} If the file is damaged or not a database.
 */
export function openMetricsDatabase(path: string, content?: Uint8Array): MetricsDatabase {
  return openChecked(path, "NORMAL", content) as MetricsDatabase;
}

/**
 * Opens a `state.sqlite` for reading, even if another process has it open.
 *
 * @throws {DatabaseFileError} If it is missing, damaged or not a database.
 */
export function openForReading(path: string): StateDatabase {
  return openReader(path, () => connectReader(path));
}

/**
 * Opens a temporary copy of a `state.sqlite` that must not be changed, e.g. on a read-only medium:
 * SQLite creates files next to a database that it reads. Closing the connection deletes the copy.
 *
 * @throws {DatabaseFileError} If it is missing, damaged or not a database, or cannot be copied.
 */
export function openCopy(path: string): StateDatabase {
  let directory: string | undefined;
  const removeCopy = () => directory && Deno.removeSync(directory, { recursive: true });
  try {
    const db = openReader(path, () => {
      directory = makePrivateDirectory();
      const copy = join(directory, "copy.sqlite");
      // The log is next to the file itself, not next to a link to it.
      copyConsistently(Deno.realPathSync(path), copy);
      return new DatabaseSync(copy);
    });
    const close = () => {
      try {
        db.close();
      } finally {
        removeCopy();
      }
    };
    return { ...db, close };
  } catch (error) {
    removeCopy();
    throw error;
  }
}

/** Creates it with mode 0700. */
function makePrivateDirectory(): string {
  try {
    return Deno.makeTempDirSync({ prefix: "longshore-" });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`it cannot be copied to TMPDIR (${reason})`, { cause: error });
  }
}

/**
 * Connects read-only if there is a write-ahead log, which means that another process may have the
 * file open. Otherwise this connection is the last to close, and must be able to remove its log.
 */
export function connectReader(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: sizeOf(`${path}-wal`) !== undefined });
}

function openReader(path: string, connect: () => DatabaseSync): StateDatabase {
  let connection: DatabaseSync | undefined;
  try {
    if (!sizeOf(path)) throw new Error("it is missing or empty");
    connection = connect();
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    connection.exec("PRAGMA query_only = ON");
    connection.prepare("SELECT count(*) FROM sqlite_schema").get();
    return withStatementCache(connection) as StateDatabase;
  } catch (error) {
    connection?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseFileError(`${path} cannot be read: ${reason}`, { cause: error });
  }
}

/**
 * Copies a database with its logs, and retries if it changes in the meantime. Additions to the
 * write-ahead log are harmless, because SQLite detects a partial transaction by its checksum; a
 * checkpoint or a restart of the log is not.
 */
function copyConsistently(path: string, copy: string): void {
  for (let tries = 0; tries < COPY_TRIES; tries++) {
    const before = readFingerprint(path);
    for (const suffix of ["", ...LOG_SUFFIXES]) copyIfExists(path + suffix, copy + suffix);
    if (readFingerprint(path) === before) return;
  }
  throw new Error("it changes too often; verify a copy");
}

function copyIfExists(from: string, to: string): void {
  if (sizeOf(to) !== undefined) Deno.removeSync(to);
  if (sizeOf(from) === undefined) return;
  Deno.copyFileSync(from, to);
  // The original may be read-only.
  Deno.chmodSync(to, 0o600);
}

/** A text that changes when the database is written to or its write-ahead log restarts. */
function readFingerprint(path: string): string {
  const { size, mtime } = Deno.statSync(path);
  return `${size} ${mtime?.getTime()} ${readWalHeader(`${path}-wal`)}`;
}

function readWalHeader(path: string): string {
  if (sizeOf(path) === undefined) return "none";
  using file = Deno.openSync(path);
  const header = new Uint8Array(WAL_HEADER_BYTES);
  const length = file.readSync(header) ?? 0;
  return header.subarray(0, length).join();
}

/**
 * Makes writes that wait for another process fail early (SQLITE_BUSY), instead of blocking this
 * process.
 */
export function shortenBusyTimeout(db: Database): void {
  db.exec(`PRAGMA busy_timeout = ${SERVING_BUSY_TIMEOUT_MS}`);
}

/** Lets a command wait for a service that writes much on a slow disk. */
export function extendBusyTimeout(db: Database): void {
  db.exec(`PRAGMA busy_timeout = ${COMMAND_BUSY_TIMEOUT_MS}`);
}

function openChecked(
  path: string,
  synchronous: "FULL" | "NORMAL",
  content?: Uint8Array,
): Database {
  const existed = path !== ":memory:" && sizeOf(path) !== undefined;
  // SQLite opens an empty file as an empty database, which would silently discard all data.
  if (existed && sizeOf(path) === 0) {
    throw new DatabaseFileError(`${path} is empty, not a database`);
  }
  // A leftover write-ahead log means that the last process did not close the database.
  const wasUnclean = existed && (sizeOf(`${path}-wal`) ?? 0) > 0;
  let db: Database | undefined;
  try {
    db = open(path, synchronous, content);
    if (wasUnclean) assertIntegrity(db, path);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof DatabaseFileError) throw error;
    throw new DatabaseFileError(
      `${path} cannot be used: ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  }
}

function open(path: string, synchronous: "FULL" | "NORMAL", content?: Uint8Array): Database {
  const connection = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  try {
    if (content !== undefined) connection.deserialize(content);
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Allows freeing pages without a VACUUM. Takes effect only before the first table; later it would
    // only wait for the lock of a process that writes.
    const { auto_vacuum } = connection.prepare("PRAGMA auto_vacuum").get() as {
      auto_vacuum: number;
    };
    if (auto_vacuum !== INCREMENTAL) connection.exec(`PRAGMA auto_vacuum = ${INCREMENTAL}`);
    connection.exec("PRAGMA journal_mode = WAL");
    // Overwrites deleted secrets in the file.
    connection.exec("PRAGMA secure_delete = FAST");
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    // Opening is lazy: only a read checks that the file is a database.
    connection.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch (error) {
    connection.close();
    throw error;
  }
  return withStatementCache(connection);
}

/**
 * Caches one compiled statement per SQL text. The cache also keeps the connection reachable, which
 * a statement alone does not in Deno (denoland/deno#31732).
 */
function withStatementCache(connection: DatabaseSync): Database {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, statement = connection.prepare(sql));
    return statement;
  };

  return {
    all: <Row>(sql: string, params: Params = {}) => prepare(sql).all(params) as Row[],
    get: <Row>(sql: string, params: Params = {}) => prepare(sql).get(params) as Row | undefined,
    run: (sql, params = {}) => Number(prepare(sql).run(params).changes),
    exec: (sql) => connection.exec(sql),
    transaction(work) {
      // Unlike exec(), statements report failures with a result code.
      prepare("BEGIN IMMEDIATE").run();
      try {
        const result = work();
        prepare("COMMIT").run();
        return result;
      } catch (error) {
        // A full disk has already rolled the transaction back.
        if (connection.isTransaction) connection.exec("ROLLBACK");
        throw error;
      }
    },
    close() {
      statements.clear();
      connection.close();
    },
  };
}

/** @throws {DatabaseFileError} If a page, row or index of the file is damaged. */
export function assertIntegrity(db: Database, path: string): void {
  const found = db.all<{ integrity_check: string }>("PRAGMA integrity_check(5)")
    .map((row) => row.integrity_check);
  if (found[0] !== "ok") {
    throw new DatabaseFileError(`${path} is damaged: ${found.join("; ")}`);
  }
}

/** Size of a file in bytes; `undefined` if it does not exist. */
export function sizeOf(path: string): number | undefined {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
