/**
 * Entries of a volume or a directory of the host: from the volume's directory, if `VOLUMES_PATH` has it
 * and no running container writes to it, else through the engine. `docs/backup-fidelity.md` says what
 * each way keeps.
 *
 * @module
 */

import type { Volume } from "../../../engine/volumes.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import type { Deps } from "../../deps.ts";
import type { ByteString, Entries } from "../restic/entry.ts";
import { readDirectory } from "./directory.ts";
import { readThroughEngine } from "./engine_reading.ts";
import { createSkipList, type SkipList } from "./limits.ts";
import { assertSource, type VolumeDeps } from "./mounted.ts";
import { usersOf, type VolumeUser } from "./users.ts";

/** A volume that can be read once. */
export interface OpenVolume {
  /** Read from `VOLUMES_PATH`, or through the engine. */
  way: "directory" | "engine";
  /**
   * The root with the path "", then what is in it: a directory before its content, and names of a
   * directory in byte order, except with the `tar` of busybox (Podman). A caller that stops early ends the reading;
   * helper containers are removed at the end.
   *
   * Errors are {@linkcode TarError} and {@linkcode TreeError}, e.g. for an archive that ends early because
   * a file became shorter, {@linkcode AppError}, and those of the engine.
   */
  entries: Entries;
  /** Complete after the last entry: what was not read, and files that changed meanwhile. */
  skipped: SkipList;
}

/**
 * Opens a volume for reading. Nothing of it is kept in memory, and the engine waits while the entries are
 * not consumed.
 *
 * @param options.images Further images that may have the programs of a helper container.
 * @throws {AppError} `not_found` for a volume that does not exist. While the entries are read: `conflict` for a
 * directory that the host does not have, and with Podman without an image that has `tar`.
 */
export async function openVolume(
  deps: VolumeDeps,
  source: MountSource,
  { images = [], signal }: { images?: readonly string[]; signal: AbortSignal },
): Promise<OpenVolume> {
  const skipped = createSkipList();
  const volume = await assertSource(deps, source, signal);
  const users = await usersOf(deps, source, volume?.Mountpoint);
  const known = [...images, ...users.map(({ container }) => container.imageId)];
  const readElsewhere = (path: ByteString) =>
    readThroughEngine(deps, { source, path, images: known, skipped, signal });

  const path = await findDirectory(deps, volume, users);
  return path === undefined ? { way: "engine", entries: readElsewhere(""), skipped } : {
    way: "directory",
    entries: readDirectory({ path, skipped, readElsewhere, signal }),
    skipped,
  };
}

/**
 * The directory below `VOLUMES_PATH` from which a volume can be read now.
 *
 * @returns `undefined` while a running container may write to it.
 */
export async function findDirectory(
  deps: Pick<Deps, "config" | "log">,
  volume: Volume | undefined,
  users: readonly VolumeUser[],
): Promise<string | undefined> {
  const isWritten = users.some(({ isRunning, isReadOnly }) => isRunning && !isReadOnly);
  return volume && !isWritten ? await directoryOf(deps, volume) : undefined;
}

/** Names of volumes, so that one cannot lead out of the directory. */
const NAME = /^[A-Za-z0-9][\w.-]*$/;

/**
 * The directory of a volume, if this service can list it. A volume with options may be the mount of
 * something that is not mounted now.
 */
async function directoryOf(
  { config: { volumesPath }, log }: Pick<Deps, "config" | "log">,
  { Name, Driver, Options, Mountpoint }: Volume,
): Promise<string | undefined> {
  if (volumesPath === null || !NAME.test(Name) || Driver !== "local") return undefined;
  const isPlain = Object.keys(Options ?? {}).length === 0 && Mountpoint.endsWith(`/${Name}/_data`);
  if (!isPlain) return undefined;
  const path = `${volumesPath}/${Name}/_data`;
  try {
    for (const each of [`${volumesPath}/${Name}`, path]) {
      if (!(await Deno.lstat(each)).isDirectory) return undefined;
    }
    for await (const _ of Deno.readDir(path)) break;
    return path;
  } catch (error) {
    log.warn("volume not readable below VOLUMES_PATH; it is read through the engine", {
      volume: Name,
      error: String(error),
    });
    return undefined;
  }
}
