/**
 * `longshore backup FILE`: databases, keys and license in one file. The service may be running.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import { assertUndamaged, copyDatabase } from "../db/backup.ts";
import {
  DatabaseFileError,
  openMetricsDatabase,
  openStateDatabase,
  type StateDatabase,
} from "../db/database.ts";
import { pendingMigrations } from "../db/migrate.ts";
import { stateMigrations } from "../db/migrations/state/mod.ts";
import {
  type BackupManifest,
  type BackupSource,
  writeBackupFile,
} from "../services/backup/archive.ts";
import { closeSources, openBackedUp } from "../services/backup/files.ts";
import { removeIfThere, syncDirectory } from "../services/secrets/private_file.ts";
import { TarError } from "../services/backup/tar.ts";
import { parseArguments } from "./arguments.ts";
import { isDataFile, STATE_FILE } from "./data_directory.ts";
import { actAsOwner } from "./data_owner.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { CommandError, commandError, EXIT, type Program } from "./program.ts";
import { assertThere } from "./state_database.ts";

export async function backup(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("backup", program, ["FILE"], {
    force: "flag",
  });
  const { config } = findInstallation(program);
  const { dataDir, secretKey } = config;
  assertIsMeant(config, program);
  assertThere(join(dataDir, STATE_FILE), dataDir);
  assertTarget(file, dataDir, options.force ?? false);

  const sources = await openSources(dataDir, program);
  try {
    // The owner of DATA_DIR could put a link into a directory of its own while root writes there.
    using _owner = isOwnedAlike(dirname(resolve(file)), dataDir) ? actAsOwner(dataDir) : null;
    const { manifest, size } = await writeTarget(file, sources, program.signal);
    report(program, file, manifest, size, secretKey !== null);
  } finally {
    closeSources(sources);
  }
  return EXIT.ok;
}

function isOwnedAlike(directory: string, dataDir: string): boolean {
  try {
    return Deno.statSync(directory).uid === Deno.statSync(dataDir).uid;
  } catch {
    return false; // without the directory, the write fails with a message
  }
}

/** Opens the files of the backup, with the permissions of the owner of `DATA_DIR`. */
async function openSources(dataDir: string, program: Program): Promise<BackupSource[]> {
  using _owner = actAsOwner(dataDir);
  const directory = join(dataDir, `backup-${crypto.randomUUID()}`);
  return await runWithDirectory(dataDir, directory, async () => {
    Deno.mkdirSync(directory, { mode: 0o700 });
    return await openBackedUp(dataDir, directory, {
      copy: async (source, target, name) => {
        await copyDatabase(source, target);
        assertReadable(target, name);
      },
      note: program.note,
      signal: program.signal,
    });
  });
}

/** Writes the archive to a private directory next to the file, then renames it into place. */
async function writeTarget(
  file: string,
  sources: readonly BackupSource[],
  signal: AbortSignal,
): Promise<{ manifest: BackupManifest; size: number }> {
  const directory = join(dirname(resolve(file)), `.longshore-backup-${crypto.randomUUID()}`);
  return await runWithDirectory(file, directory, async () => {
    Deno.mkdirSync(directory, { mode: 0o700 });
    const path = join(directory, basename(file));
    const manifest = await writeBackupFile(path, sources, { createdAt: new Date(), signal });
    Deno.renameSync(path, file);
    syncDirectory(dirname(resolve(file)));
    return { manifest, size: Deno.statSync(file).size };
  });
}

function report(
  program: Program,
  file: string,
  manifest: BackupManifest,
  size: number,
  hasSecretKey: boolean,
): void {
  const names = manifest.entries.map(({ name }) => name).join(", ");
  program.print(`${file}: ${names} (${megabytes(size)})`);
  if (hasSecretKey) {
    program.note("SECRET_KEY is not in the backup; without it, the stored secrets cannot be read.");
  }
}

/** Makes sure that the copy can be restored. */
function assertReadable(path: string, name: string): void {
  const db = name === STATE_FILE ? openStateDatabase(path) : openMetricsDatabase(path);
  try {
    assertUndamaged(db, name);
    // An older database is migrated when it is restored.
    if (name === STATE_FILE) pendingMigrations(db as StateDatabase, stateMigrations);
  } finally {
    db.close();
  }
}

/** Runs `work` and removes its directory; a failure becomes a sentence about `place`. */
async function runWithDirectory<T>(
  place: string,
  directory: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw new CommandError("Interrupted; no backup was written");
    }
    if (error instanceof DatabaseFileError || error instanceof TarError) {
      throw new CommandError(error.message, { cause: error });
    }
    throw commandError(`${place} cannot be used`, error);
  } finally {
    removeIfThere(directory);
  }
}

/** @throws {CommandError} If the file must not be replaced. */
function assertTarget(file: string, dataDir: string, force: boolean): void {
  if (file === "" || isDataFile(dataDir, file)) {
    throw new CommandError(`${file || "An empty name"} cannot be the backup`);
  }
  let found: Deno.FileInfo;
  try {
    found = Deno.lstatSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw commandError(`${file} cannot be written`, error);
  }
  if (!found.isFile) throw new CommandError(`${file} exists and is not a regular file`);
  if (!force) {
    throw new CommandError(`${file} already exists; --force replaces it`);
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
