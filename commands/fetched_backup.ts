/** A backup of Longshore in the repository of a target, as `longshore restore --from` gets it. @module */

import { join } from "node:path";
import { nodeOs } from "../services/builtins.ts";
import { openRepository } from "../services/backup/restic/repository.ts";
import { instantOf, type Snapshot } from "../services/backup/restic/snapshot.ts";
import type { Storage } from "../services/backup/restic/storage.ts";
import { createDirectoryStorage } from "../services/backup/storages/directory.ts";
import { parseLocation } from "../services/backup/targets/location.ts";
import { asTargetError, targetStorage } from "../services/backup/targets/repository.ts";
import { readable } from "../services/containers/health_output.ts";
import type { Config } from "../services/config/config.ts";
import { AppError } from "../services/errors.ts";
import { removeIfThere } from "../services/secrets/private_file.ts";
import { isOwnBackup, OWN_FILE } from "../services/snapshots/own/content.ts";
import { readSecret } from "./password_input.ts";
import { CommandError, commandError, type Program, UsageError } from "./program.ts";

/** The chosen backup; default: the newest one, if a single host has any. */
export interface Wanted {
  /** Location of the repository, as targets have it. */
  from: string;
  /** Id of a snapshot, or its beginning. */
  snapshot?: string | undefined;
  host?: string | undefined;
}

const now = () => new Date();

/**
 * Downloads it to a private temporary directory, until it is disposed. Secrets come from restic's
 * variables, and the password of the repository else from the terminal.
 *
 * @throws {CommandError} If it cannot be had; `UsageError` for a wrong location.
 */
export async function fetchBackup(
  program: Program,
  config: Config,
  wanted: Wanted,
): Promise<Disposable & { path: string }> {
  const { env, signal } = program;
  const storage = await storageAt(program, config, wanted.from);
  const password = env.RESTIC_PASSWORD ?? await readSecret("Password of the repository", program);
  const directory = Deno.makeTempDirSync({ prefix: "longshore-restore-" });
  const remove = () => removeIfThere(directory);
  try {
    const repository = await openRepository({ storage, password, now, holder: holder() }, signal);
    const found = chosen(await repository.snapshots(signal), wanted);
    const path = join(directory, "longshore.backup");
    using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    const content = repository.readFile(found.id, OWN_FILE, {}, signal);
    await ReadableStream.from(content).pipeTo(file.writable, { preventClose: true, signal });
    program.print(
      `Snapshot ${found.id.slice(0, 8)} of ${readable(found.hostname)}, ${found.time.slice(0, 19)}`,
    );
    return { path, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    const failure = asTargetError(error);
    const isKnown = failure instanceof AppError || failure instanceof CommandError;
    if (!isKnown) {
      throw commandError("Nothing was changed, and the backup was not downloaded", error);
    }
    throw new CommandError(`${failure.message}; nothing was changed`, { cause: error });
  }
}

/** Root chooses any directory: `BACKUP_DIRS` limits the users of a service. */
async function storageAt({ env }: Program, config: Config, from: string): Promise<Storage> {
  const location = parseLocation(from);
  if (typeof location === "string") throw new UsageError(`--from ${location}`);
  if (location.kind === "directory") return createDirectoryStorage(location.path, { now });
  return await targetStorage({ config, now }, {
    location: from,
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? null,
    region: env.AWS_DEFAULT_REGION ?? null,
    username: env.RESTIC_REST_USERNAME ?? null,
    caCertificate: null,
  }, {
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? null,
    userPassword: env.RESTIC_REST_PASSWORD ?? null,
  });
}

/** It only reads, which takes no lock. */
const holder = () => ({
  hostname: nodeOs().hostname(),
  username: "longshore-restore",
  uid: Deno.uid() ?? 0,
  gid: 0,
  pid: Deno.pid,
  startedAt: now(),
});

/** @throws {CommandError} Without one, or if several hosts have any. */
function chosen(snapshots: readonly Snapshot[], { host, snapshot }: Wanted): Snapshot {
  const all = snapshots.filter(isOwnBackup).sort((a, b) => instantOf(a) < instantOf(b) ? -1 : 1);
  const found = all.filter((each) =>
    (host === undefined || each.hostname === host) &&
    (snapshot === undefined || each.id.startsWith(snapshot))
  );
  const hosts = [...new Set(found.map(({ hostname }) => hostname))];
  if (hosts.length > 1) {
    throw new CommandError(
      `The repository has backups of several hosts: name one with --host: ${
        readable(hosts.join(", "))
      }`,
    );
  }
  const last = found.at(-1);
  if (last) return last;
  throw new CommandError(
    all.length === 0
      ? "The repository has no backup of Longshore"
      : "The repository has no such backup of Longshore",
  );
}
