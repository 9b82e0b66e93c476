/**
 * `longshore backup FILE`: databases, keys and license in one file, while the service runs or not.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import { assertWhole, copyDatabase } from "../db/backup.ts";
import {
  DatabaseFileError,
  openMetricsDatabase,
  openStateDatabase,
  type StateDatabase,
} from "../db/database.ts";
import { pendingMigrations } from "../db/migrate.ts";
import { stateMigrations } from "../db/migrations/mod.ts";
import { type BackupManifest, writeBackupFile } from "../services/backup_file.ts";
import { readConfig } from "../services/config.ts";
import { isThere, removeIfThere, syncDirectory } from "../services/private_file.ts";
import { TarError } from "../services/tar.ts";
import { parseArguments } from "./arguments.ts";
import { BACKED_UP, isDataFile, METRICS_FILE, STATE_FILE } from "./data_directory.ts";
import { CommandError, EXIT, type Program } from "./program.ts";
import { assertThere } from "./state_database.ts";

export async function backup(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("backup", program, ["FILE"], {
    force: "flag",
  });
  const { dataDir, secretKey } = readConfig(program.env, program.surroundings);
  Deno.umask(0o077);
  assertThere(join(dataDir, STATE_FILE), dataDir);
  assertTarget(file, dataDir, options.force ?? false);

  const { manifest, size } = await inWorkDirectory(file, async (directory) => {
    const sources = await copyAll(dataDir, directory, program);
    const path = join(directory, basename(file));
    const manifest = await writeBackupFile(path, sources, {
      createdAt: new Date(),
      signal: program.signal,
    });
    Deno.renameSync(path, file);
    syncDirectory(dirname(resolve(file)));
    return { manifest, size: Deno.statSync(file).size };
  });

  const names = manifest.entries.map(({ name }) => name).join(", ");
  program.print(`${file}: ${names} (${megabytes(size)})`);
  if (secretKey !== null) {
    program.note("SECRET_KEY is not in it: without it the stored secrets cannot be read.");
  }
  return EXIT.ok;
}

/**
 * Copies the databases as each is at one moment, and finds the other files.
 *
 * @throws {DatabaseFileError} When the state database is damaged: such a backup would be none.
 */
async function copyAll(
  dataDir: string,
  directory: string,
  { signal, note }: Program,
): Promise<{ name: string; path: string }[]> {
  const sources: { name: string; path: string }[] = [];
  for (const name of BACKED_UP) {
    signal.throwIfAborted();
    const path = join(dataDir, name);
    if (!isThere(path)) continue;
    if (name !== STATE_FILE && name !== METRICS_FILE) {
      sources.push({ name, path });
      continue;
    }
    // In a directory of its own, for the archive may have the same name.
    const copy = join(directory, "databases", name);
    try {
      await copyDatabase(path, copy);
      assertReadable(copy, name);
      sources.push({ name, path: copy });
    } catch (error) {
      if (!(error instanceof DatabaseFileError) || name === STATE_FILE) throw error;
      note(`${name} is left out, for it cannot be used: ${error.message}`);
    }
  }
  return sources;
}

/** What cannot be restored is no backup. */
function assertReadable(path: string, name: string): void {
  const db = name === STATE_FILE ? openStateDatabase(path) : openMetricsDatabase(path);
  try {
    assertWhole(db, name);
    // An older database is brought up to date when it is restored.
    if (name === STATE_FILE) pendingMigrations(db as StateDatabase, stateMigrations);
  } finally {
    db.close();
  }
}

/** Runs `work` with a private directory beside the file, where a rename is enough to publish it. */
async function inWorkDirectory(
  file: string,
  work: (directory: string) => Promise<{ manifest: BackupManifest; size: number }>,
): Promise<{ manifest: BackupManifest; size: number }> {
  const directory = join(dirname(resolve(file)), `.longshore-backup-${crypto.randomUUID()}`);
  try {
    Deno.mkdirSync(directory, { mode: 0o700 });
    Deno.mkdirSync(join(directory, "databases"), { mode: 0o700 });
    return await work(directory);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw new CommandError("Interrupted; no backup was written");
    }
    const reason = error instanceof Error ? error.message : String(error);
    const known = error instanceof DatabaseFileError || error instanceof TarError;
    throw new CommandError(known ? reason : `${file} cannot be written: ${reason}`, {
      cause: error,
    });
  } finally {
    removeIfThere(directory);
  }
}

/** @throws {CommandError} For a file that must not be replaced. */
function assertTarget(file: string, dataDir: string, force: boolean): void {
  if (file === "" || isDataFile(dataDir, file)) {
    throw new CommandError(`${file || "An empty name"} cannot be the backup`);
  }
  let found: Deno.FileInfo;
  try {
    found = Deno.lstatSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
  }
  if (!found.isFile) throw new CommandError(`${file} is there already and is no plain file`);
  if (!force) {
    throw new CommandError(`${file} is there already; --force replaces it`);
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
