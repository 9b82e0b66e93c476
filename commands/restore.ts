/**
 * `longshore restore`: replaces the files of `DATA_DIR` with those of a backup.
 *
 * Everything is checked and migrated in a staging directory before any file is replaced.
 *
 * @module
 */

import { join } from "node:path";
import { assertUndamaged } from "../db/backup.ts";
import {
  DatabaseFileError,
  openMetricsDatabase,
  openStateDatabase,
  type StateDatabase,
} from "../db/database.ts";
import { selectJob, selectUnfinishedJobs, updateJob } from "../db/jobs.ts";
import { migrate, type Migration, pendingMigrations } from "../db/migrate.ts";
import { metricsMigrations } from "../db/migrations/metrics/mod.ts";
import { stateMigrations } from "../db/migrations/state/mod.ts";
import { BackupFileError, readBackupFile } from "../services/backup/archive.ts";
import { storedTrialStart, storeTrialStart } from "../services/access/license/licenses.ts";
import { LICENSE_FILE } from "../services/access/license/source.ts";
import {
  type EndedRights,
  endFormerRights,
  readFleet,
} from "../services/fleet/enrolment/restored.ts";
import { storedServerId } from "../services/events/server_identity.ts";
import { openRegularFile, removeIfThere, syncDirectory } from "../services/secrets/private_file.ts";
import { systemReason } from "../services/text/system_reason.ts";
import { parseArguments } from "./arguments.ts";
import {
  BACKED_UP,
  DATABASE_COMPANIONS,
  finishRestore,
  lockDirectory,
  METRICS_FILE,
  STATE_FILE,
} from "./data_directory.ts";
import { actAsOwner } from "./data_owner.ts";
import { findBackup } from "./fetched_backup.ts";
import { findInstallation } from "./installation.ts";
import { CommandError, commandError, EXIT, type Program, UsageError } from "./program.ts";
import { isPlanned, replaceFiles } from "./replacement.ts";

const STAGED_PREFIX = "restore-";

export async function restore(program: Program): Promise<number> {
  const { values: [given], options } = parseArguments("restore", program, ["[FILE]"], {
    from: "value",
    host: "value",
    snapshot: "value",
  });
  const { from, ...which } = options;
  if ((given === undefined) === (from === undefined)) {
    throw new UsageError("restore needs either FILE or --from");
  }
  if (from === undefined && Object.keys(which).length > 0) {
    throw new UsageError("restore takes --host and --snapshot only with --from");
  }
  const { config } = findInstallation(program);
  const { dataDir } = config;
  if (from === undefined) {
    using source = openBackup(given!);
    using _lock = lockAsOwner(dataDir);
    return await restoreFrom(program, dataDir, source, given!);
  }
  const found = await findBackup(program, config, { from, ...which });
  using _lock = lockAsOwner(dataDir);
  using source = await found.download(dataDir);
  return await restoreFrom(program, dataDir, source, found.name);
}

function lockAsOwner(dataDir: string): Disposable {
  using _owner = actAsOwner(dataDir);
  return lockDirectory(dataDir, "stop it before a restore");
}

/** @param file Name of the source in messages. */
async function restoreFrom(
  program: Program,
  dataDir: string,
  source: Deno.FsFile,
  file: string,
): Promise<number> {
  using _owner = actAsOwner(dataDir);
  finishRestore(dataDir);
  removeLeftovers(dataDir);

  const staged = STAGED_PREFIX + crypto.randomUUID();
  const directory = join(dataDir, staged);
  try {
    Deno.mkdirSync(directory, { mode: 0o700 });
    const manifest = await readBackupFile(source, file, directory, {
      names: BACKED_UP,
      signal: program.signal,
    });
    const names = manifest.entries.map(({ name }) => name);
    const ended = prepareDatabases(names, directory, dataDir, file);
    syncDirectory(directory);

    const replaced = `replaced-${new Date().toISOString().replace(/[:.]/g, "-")}`;
    const gone = BACKED_UP.filter((name) => name !== LICENSE_FILE && !names.includes(name));
    replaceFiles(dataDir, { staged, replaced, names, retired: [...DATABASE_COMPANIONS, ...gone] });

    const { createdAt, programVersion } = manifest;
    program.print(`Restored ${names.join(", ")} as of ${createdAt} (version ${programVersion}).`);
    const kept = join(dataDir, replaced);
    if (Deno.readDirSync(kept).next().done) Deno.removeSync(kept);
    else program.print(`The replaced files are in ${kept}.`);
    if (!names.includes("secret.key")) {
      program.note("The backup has no secret.key: set the SECRET_KEY of that time.");
    }
    for (const note of notesOf(ended)) program.note(note);
    return EXIT.ok;
  } catch (error) {
    throw sentenceOf(error, file, dataDir);
  } finally {
    // A planned replacement still needs it.
    if (!isPlanned(dataDir)) removeIfThere(directory);
  }
}

/**
 * Makes sure that both databases are complete and ours, and migrates them.
 *
 * @returns Rights in the fleet that have ended after the backup.
 */
function prepareDatabases(
  names: readonly string[],
  directory: string,
  dataDir: string,
  file: string,
): EndedRights {
  if (!names.includes(STATE_FILE)) {
    throw new BackupFileError(`${file} is damaged: it has no ${STATE_FILE}`);
  }
  const state = openStateDatabase(join(directory, STATE_FILE));
  let ended: EndedRights;
  try {
    prepare(state, STATE_FILE, stateMigrations);
    const fleet = readPresent(directory, dataDir, (present) => {
      keepTrial(state, present);
      keepJobs(state, present);
      return readFleet(present);
    });
    ended = endFormerRights(state, fleet);
  } finally {
    state.close();
  }
  if (!names.includes(METRICS_FILE)) return ended;
  const metrics = openMetricsDatabase(join(directory, METRICS_FILE));
  try {
    prepare(metrics, METRICS_FILE, metricsMigrations);
  } finally {
    metrics.close();
  }
  return ended;
}

function* notesOf(
  { removed, forgotten, left, endedBy, takenBack }: EndedRights,
): Generator<string> {
  if (removed.length > 0) {
    const names = removed.join(", ");
    yield `Hosts that were removed from the fleet since then wait to be accepted: ${names}`;
  }
  if (forgotten.length > 0) {
    const names = forgotten.join(", ");
    yield "Hosts that have joined the fleet since then are unknown; run `longshore fleet leave` on " +
      `each, and let it join again with a new invite: ${names}`;
  }
  if (left !== undefined) {
    yield `This host has left the fleet of ${left} since then, and stays out of it until it joins again`;
  }
  if (endedBy !== undefined) {
    yield `${endedBy} has removed this host from its fleet since then; it stays out of it until it ` +
      "joins again";
  }
  if (takenBack > 0) {
    yield `Requests for hosts that have ended since then are not left for them again: ${takenBack}`;
  }
}

function prepare(
  db: Parameters<typeof migrate>[0],
  name: string,
  migrations: readonly Migration[],
): void {
  assertUndamaged(db, name);
  pendingMigrations(db, migrations);
  migrate(db, migrations);
}

/** Keeps the start of the trial: each installation has one, and an older backup must not reset it. */
function keepTrial(restored: StateDatabase, present: StateDatabase): void {
  const startedAt = storedTrialStart(present);
  const known = storedTrialStart(restored);
  if (startedAt && (!known || startedAt < known)) storeTrialStart(restored, startedAt);
}

/** Keeps how far jobs have come that ran during the backup: they would run again, on containers of now. */
function keepJobs(restored: StateDatabase, present: StateDatabase): void {
  const isSame = storedServerId(restored) === storedServerId(present);
  for (const { id } of selectUnfinishedJobs(restored)) {
    const job = selectJob(present, id);
    if (job) updateJob(restored, id, job);
    else if (isSame) {
      updateJob(restored, id, {
        status: "failed",
        error: "It ran when the backup was made, and does not go on after the restore",
        endedAt: new Date().toISOString(),
      });
    }
  }
}

/**
 * Reads the database that is replaced, as a copy.
 *
 * @returns `undefined` if it is missing, damaged or of another version.
 */
function readPresent<Result>(
  directory: string,
  dataDir: string,
  read: (present: StateDatabase) => Result,
): Result | undefined {
  const copy = join(directory, "present.sqlite");
  try {
    for (const suffix of ["", "-wal"]) {
      copyIfThere(join(dataDir, STATE_FILE + suffix), copy + suffix);
    }
    const present = openStateDatabase(copy);
    try {
      return read(present);
    } finally {
      present.close();
    }
  } catch {
    return undefined;
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) removeIfThere(copy + suffix);
  }
}

function sentenceOf(error: unknown, file: string, dataDir: string): unknown {
  if (error instanceof BackupFileError || error instanceof CommandError) {
    return new CommandError(`${error.message}; nothing was changed`, { cause: error });
  }
  if (error instanceof DatabaseFileError) {
    return new CommandError(`${file} cannot be restored: ${error.message}; nothing was changed`, {
      cause: error,
    });
  }
  if (isPlanned(dataDir)) {
    return new CommandError(
      "The backup is valid, but its files could not be put in place: " +
        `${systemReason(error)}; the next start or restore finishes it`,
      { cause: error },
    );
  }
  const isAborted = error instanceof DOMException && error.name === "AbortError";
  const reason = isAborted ? "interrupted" : systemReason(error);
  return new CommandError(`${file} cannot be restored: ${reason}; nothing was changed`, {
    cause: error,
  });
}

/** @throws {CommandError} If it is not a readable file; then nothing is locked or created. */
function openBackup(file: string): Deno.FsFile {
  try {
    if (!Deno.statSync(file).isFile) throw new Error("it is not a regular file");
    // The path of the backup may be a link.
    return openRegularFile(Deno.realPathSync(file));
  } catch (error) {
    throw commandError(`${file} cannot be read`, error);
  }
}

/** Removes what an interrupted restore left before it changed anything. */
function removeLeftovers(dataDir: string): void {
  for (const { name, isDirectory } of [...Deno.readDirSync(dataDir)]) {
    if (isDirectory && name.startsWith(STAGED_PREFIX)) removeIfThere(join(dataDir, name));
  }
}

function copyIfThere(from: string, to: string): void {
  try {
    Deno.copyFileSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
