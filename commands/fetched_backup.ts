/** A backup of Longshore in the repository of a target, as `longshore restore --from` gets it. @module */

import { join } from "node:path";
import { writeAll } from "../services/backup/archive.ts";
import { openRepository, type Repository } from "../services/backup/restic/repository.ts";
import { shown } from "../services/backup/restic/repository_error.ts";
import type { Snapshot } from "../services/backup/restic/snapshot.ts";
import type { Storage } from "../services/backup/restic/storage.ts";
import { createDirectoryStorage } from "../services/backup/storages/directory.ts";
import { parseLocation } from "../services/backup/targets/location.ts";
import { asTargetError, targetStorage } from "../services/backup/targets/repository.ts";
import { findEntry } from "../services/backup/trees/find_entry.ts";
import { readTags } from "../services/backup/trees/tags.ts";
import { nodeFs, nodeOs } from "../services/builtins.ts";
import type { Config } from "../services/config/config.ts";
import { AppError } from "../services/errors.ts";
import { PRIVATE_MODE } from "../services/secrets/private_file.ts";
import { isOwnBackup, OWN_FILE } from "../services/snapshots/own/content.ts";
import { byteText } from "../services/text/bytes.ts";
import { actAsOwner } from "./data_owner.ts";
import { readSecret } from "./password_input.ts";
import { CommandError, commandError, type Program, UsageError } from "./program.ts";

/** The chosen backup; default: the newest one, if a single host has any. */
export interface Wanted {
  /** Location of the repository, as targets have it. */
  from: string;
  /** Id of a snapshot, or at least its first 4 digits. */
  snapshot?: string | undefined;
  host?: string | undefined;
}

/** A backup that was found, and not downloaded yet. */
export interface FoundBackup {
  /** For messages. */
  name: string;
  /**
   * @param directory Has room for it and for what it is unpacked to.
   * @returns A file without a name, of which a kill leaves nothing.
   * @throws {CommandError} If it cannot be had.
   */
  download(directory: string): Promise<Deno.FsFile>;
}

/** Hosts in a message. */
const HOSTS_MAX = 20;

const now = () => new Date();

/**
 * Finds a backup, and changes nothing. Secrets come from restic's variables, and the password of the
 * repository else from the terminal.
 *
 * @throws {CommandError} If there is none; `UsageError` for a wrong location.
 */
export async function findBackup(
  program: Program,
  config: Config,
  wanted: Wanted,
): Promise<FoundBackup> {
  const { env, signal } = program;
  const storage = await storageAt(program, config, wanted.from);
  const password = env.RESTIC_PASSWORD ?? await readSecret("Password of the repository", program);
  return await explained(async () => {
    const repository = await openRepository({ storage, password, now, holder: holder() }, signal);
    const { id, hostname, time } = await choose(repository, wanted, signal);
    const name = `Snapshot ${id.slice(0, 8)}`;
    return {
      name,
      download: (directory) =>
        explained(async () => {
          const file = await download(repository, id, directory, signal);
          program.print(`${name} of ${shown(hostname)}, ${time.slice(0, 19)}`);
          return file;
        }),
    };
  });
}

/** Runs work on a repository; each failure says that nothing was changed. */
async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const failure = asTargetError(error);
    if (failure instanceof AppError || failure instanceof CommandError) {
      throw new CommandError(`${failure.message}; nothing was changed`, { cause: error });
    }
    throw commandError("Nothing was changed, and the backup was not downloaded", error);
  }
}

async function download(
  repository: Repository,
  snapshot: string,
  directory: string,
  signal: AbortSignal,
): Promise<Deno.FsFile> {
  const { size = 0 } = await findEntry(repository, snapshot, OWN_FILE, signal) ?? {};
  const { bavail, bsize } = await nodeFs().promises.statfs(directory);
  if (2 * size > bavail * bsize) {
    throw new CommandError(
      `The backup has ${byteText(size)}, and its restore needs twice as much in ${directory}, ` +
        `which has ${byteText(bavail * bsize)} left`,
    );
  }
  const file = namelessFile(directory);
  try {
    // The repository may be read-only.
    const content = repository.readFile(snapshot, OWN_FILE, { takesLock: false }, signal);
    // The last piece of a stream that is piped to a file that stays open is lost in Deno 2.9.
    for await (const piece of content) await writeAll(file, piece);
    await file.seek(0, Deno.SeekMode.Start);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function namelessFile(directory: string): Deno.FsFile {
  using _owner = actAsOwner(directory);
  const path = join(directory, `${crypto.randomUUID()}.tmp`);
  const file = Deno.openSync(path, {
    read: true,
    write: true,
    createNew: true,
    mode: PRIVATE_MODE,
  });
  Deno.removeSync(path);
  return file;
}

/** Root chooses any directory: `BACKUP_DIRS` limits the users of a service. */
async function storageAt(program: Program, config: Config, from: string): Promise<Storage> {
  const { env } = program;
  const location = parseLocation(from);
  if (typeof location === "string") throw new UsageError(`--from ${location}`);
  if (location.kind === "directory") return createDirectoryStorage(location.path, { now });
  return await targetStorage({ config, now }, {
    location: from,
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? null,
    region: env.AWS_DEFAULT_REGION ?? null,
    username: env.RESTIC_REST_USERNAME ?? null,
    caCertificate: certificates(program),
  }, {
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? null,
    userPassword: env.RESTIC_REST_PASSWORD ?? null,
  });
}

/** Authorities of a server with a private one. */
function certificates({ env, surroundings }: Program): string | null {
  const path = env.RESTIC_CACERT;
  if (!path) return null;
  try {
    return surroundings.readTextFile(path);
  } catch (error) {
    throw commandError(`RESTIC_CACERT=${path} cannot be read`, error);
  }
}

/** It takes no lock. */
const holder = () => ({
  hostname: nodeOs().hostname(),
  username: "longshore-restore",
  uid: Deno.uid() ?? 0,
  gid: 0,
  pid: Deno.pid,
  startedAt: now(),
});

/**
 * Finds the snapshot. A named one is read alone, because others may be damaged.
 *
 * @throws {CommandError} Without one, or if several hosts have any.
 */
async function choose(
  repository: Repository,
  { host, snapshot }: Wanted,
  signal: AbortSignal,
): Promise<Snapshot> {
  const snapshots = snapshot === undefined
    ? await repository.snapshots(signal)
    : [await repository.snapshot(snapshot, signal)];
  const all = snapshots.filter(isOwnBackup);
  const found = all.filter(({ hostname }) => host === undefined || hostname === host);
  // The oldest first, so that the last one of each server stays. Two can have the same host name.
  const lasts = new Map(found.map((each) => [readTags(each).serverId ?? each.hostname, each]));
  if (lasts.size > 1) {
    const names = [...lasts.values()].sort((one, other) => one.time < other.time ? 1 : -1)
      .slice(0, HOSTS_MAX)
      .map(({ hostname, time, id }) =>
        `${shown(hostname)} (last ${time.slice(0, 10)}, ${id.slice(0, 8)})`
      );
    throw new CommandError(
      "The repository has backups of several hosts: name one with --host or --snapshot: " +
        names.join(", "),
    );
  }
  const last = found.at(-1);
  if (last) return last;
  throw new CommandError(
    all.length === 0 && snapshot === undefined
      ? "The repository has no backup of Longshore"
      : "The repository has no such backup of Longshore",
  );
}
