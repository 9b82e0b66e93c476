/**
 * The SQLite connections of the process. The only module that knows the driver.
 *
 * @module
 */

import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** Values bound to the named parameters (`:name`) of a statement. */
export type Params = Record<string, SQLInputValue>;

/** A connection with its statement cache. Every query module takes one as its first argument. */
export interface Database {
  /** All rows of a query, in the order the SQL gives. */
  all<Row>(sql: string, params?: Params): Row[];
  /** The first row of a query, or `undefined`. */
  get<Row>(sql: string, params?: Params): Row | undefined;
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, params?: Params): number;
  /** Runs several statements; for migrations only. */
  exec(sql: string): void;
  /** Commits what `work` does, or undoes it when it throws. `work` is synchronous; no nesting. */
  transaction<T>(work: () => T): T;
  close(): void;
}

declare const kind: unique symbol;

/** What a user told us or must be able to rely on: a commit is on the disk when it returns. */
export type StateDatabase = Database & { readonly [kind]: "state" };

/** Samples and check results: fast, and may lose the last moments in a power cut. */
export type MetricsDatabase = Database & { readonly [kind]: "metrics" };

/** A database file that cannot be used as it is; the message tells what to do. */
export class DatabaseFileError extends Error {
  override readonly name = "DatabaseFileError";
}

/** Waits for another process (a backup, an open shell) that holds the file, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** What SQLite keeps beside a database and needs to read it. */
const LOG_SUFFIXES = ["-wal", "-journal"];

/** https://sqlite.org/fileformat2.html#walformat: it has salts that are new with every beginning. */
const WAL_HEADER_BYTES = 32;

/** How often a database is copied that is changed meanwhile. */
const COPY_TRIES = 5;

/** The same while requests are served: SQLite waits in the only thread, and nobody is answered. */
const SERVING_BUSY_TIMEOUT_MS = 50;

/**
 * Opens `state.sqlite`, or an in-memory database for `":memory:"`.
 *
 * @throws {DatabaseFileError} When the file is damaged or is no database.
 */
export function openStateDatabase(path: string): StateDatabase {
  return openChecked(path, "FULL") as StateDatabase;
}

/**
 * Opens `metrics.sqlite`, or an in-memory database for `":memory:"`.
 *
 * @throws {DatabaseFileError} When the file is damaged or is no database.
 */
export function openMetricsDatabase(path: string): MetricsDatabase {
  return openChecked(path, "NORMAL") as MetricsDatabase;
}

/**
 * Opens a `state.sqlite` that is only looked at, wherever it lies and whoever has it open.
 *
 * @throws {DatabaseFileError} When it is missing, damaged or no database.
 */
export function openToRead(path: string): StateDatabase {
  return opened(path, () =>
    // Without a write-ahead log nobody has it open: then the last to close it has to tidy up,
    // which a reader cannot.
    new DatabaseSync(path, { readOnly: sizeOf(`${path}-wal`) !== undefined }));
}

/**
 * Opens a private copy of a `state.sqlite` that nothing may happen to: SQLite puts files beside what
 * it reads, and so reads nothing on a medium that cannot be written. The copy goes with the
 * connection.
 *
 * @throws {DatabaseFileError} When it is missing, damaged or no database, or cannot be copied.
 */
export function openUntouched(path: string): StateDatabase {
  let directory: string | undefined;
  const removeCopy = () => directory && Deno.removeSync(directory, { recursive: true });
  try {
    const db = opened(path, () => {
      directory = makePrivateDirectory();
      const copy = join(directory, "copy.sqlite");
      // A log lies beside the file itself, not beside a link to it.
      copyAtRest(Deno.realPathSync(path), copy);
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

/** Its mode is 0700: nobody else may look into it. */
function makePrivateDirectory(): string {
  try {
    return Deno.makeTempDirSync({ prefix: "longshore-" });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`no copy of it can be made in TMPDIR (${reason})`, { cause: error });
  }
}

function opened(path: string, connect: () => DatabaseSync): StateDatabase {
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
 * Copies a database with its logs, again while somebody changes it. What is added to a write-ahead
 * log meanwhile does no harm, SQLite tells half of a transaction by its checksum; a log that is
 * written into the database, or begins anew, does.
 */
function copyAtRest(path: string, copy: string): void {
  for (let tries = 0; tries < COPY_TRIES; tries++) {
    const before = stateOf(path);
    for (const suffix of ["", ...LOG_SUFFIXES]) copyIfThere(path + suffix, copy + suffix);
    if (stateOf(path) === before) return;
  }
  throw new Error("it changes all the time; verify a copy");
}

function copyIfThere(from: string, to: string): void {
  if (sizeOf(to) !== undefined) Deno.removeSync(to);
  if (sizeOf(from) === undefined) return;
  Deno.copyFileSync(from, to);
  // The copy has the rights of what may be evidence that nobody may write.
  Deno.chmodSync(to, 0o600);
}

/** Is another text once a database was written to, or its write-ahead log begun anew. */
function stateOf(path: string): string {
  const { size, mtime } = Deno.statSync(path);
  return `${size} ${mtime?.getTime()} ${walHeader(`${path}-wal`)}`;
}

function walHeader(path: string): string {
  if (sizeOf(path) === undefined) return "none";
  using file = Deno.openSync(path);
  const header = new Uint8Array(WAL_HEADER_BYTES);
  const length = file.readSync(header) ?? 0;
  return header.subarray(0, length).join();
}

/**
 * From here on a write that another process holds up fails soon (SQLITE_BUSY), instead of holding
 * up everything else of this one.
 */
export function waitBriefly(db: Database): void {
  db.exec(`PRAGMA busy_timeout = ${SERVING_BUSY_TIMEOUT_MS}`);
}

function openChecked(path: string, synchronous: "FULL" | "NORMAL"): Database {
  const existed = path !== ":memory:" && sizeOf(path) !== undefined;
  // SQLite opens an empty file as an empty database, which would silently forget everything.
  if (existed && sizeOf(path) === 0) {
    throw new DatabaseFileError(`${path} is empty although it should be a database`);
  }
  // A write-ahead log left behind means that the last process did not close the database.
  const unclean = existed && (sizeOf(`${path}-wal`) ?? 0) > 0;
  let db: Database | undefined;
  try {
    db = open(path, synchronous);
    if (unclean) assertIntegrity(db, path);
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

function open(path: string, synchronous: "FULL" | "NORMAL"): Database {
  const connection = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  try {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Has an effect only before the first table; frees deleted pages without a VACUUM.
    connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
    connection.exec("PRAGMA journal_mode = WAL");
    // A deleted secret is overwritten in the file.
    connection.exec("PRAGMA secure_delete = FAST");
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    // Opening is lazy: only a read tells whether the file is a database.
    connection.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch (error) {
    connection.close();
    throw error;
  }
  return withStatementCache(connection);
}

/**
 * Statements are compiled once per SQL text and kept: the cache also keeps the connection
 * reachable, which a lone statement does not do under Deno (denoland/deno#31732).
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
      // Failures of exec() have no result code, those of statements do.
      prepare("BEGIN IMMEDIATE").run();
      try {
        const result = work();
        prepare("COMMIT").run();
        return result;
      } catch (error) {
        // A full disk rolls the transaction back by itself.
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

/** @throws {DatabaseFileError} When a page, row or index of the file is damaged. */
export function assertIntegrity(db: Database, path: string): void {
  const found = db.all<{ integrity_check: string }>("PRAGMA integrity_check(5)")
    .map((row) => row.integrity_check);
  if (found[0] !== "ok") {
    throw new DatabaseFileError(`${path} is damaged: ${found.join("; ")}`);
  }
}

/** Bytes of a file, `undefined` where there is none. */
export function sizeOf(path: string): number | undefined {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
