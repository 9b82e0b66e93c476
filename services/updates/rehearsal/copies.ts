/** Copies of the data of containers that run, into volumes of a trial. @module */

import { findVolume } from "../../../engine/volumes.ts";
import type { Entries, Entry } from "../../backup/restic/entry.ts";
import { TarError } from "../../backup/tar.ts";
import { writeContainerFile } from "../../backup/volumes/container_files.ts";
import { TreeError } from "../../backup/volumes/limits.ts";
import { openVolume } from "../../backup/volumes/read.ts";
import { sizesOf } from "../../backup/volumes/users.ts";
import { writeVolume } from "../../backup/volumes/write.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { keyOf, sourceOf } from "../trial/members.ts";
import { createTrialVolume, type TrialContainer } from "../trial/parts.ts";
import { assertRoomForCopies, whileThereIsRoom } from "../trial/room.ts";

/** Attempts to read what changes meanwhile. */
const ATTEMPTS_MAX = 3;

/** Longest wait for the sizes of volumes, in milliseconds. */
const SIZES_MS = 30_000;

type CopyJob = Pick<JobRun, "id" | "signal" | "progress">;

export interface Copies {
  /** Volumes by the key of their source. */
  volumes: Map<string, string>;
  /** Files of the host that are mounted one by one, by key. */
  files: Map<string, MountSource>;
}

/**
 * Copies volumes and directories as they are at this moment: nothing stops, and files may be of
 * different moments.
 *
 * @param images May have the programs that read a volume.
 * @throws {AppError} `conflict` without enough room, and for what cannot be read.
 */
export async function copySources(
  deps: Deps,
  job: CopyJob,
  sources: readonly MountSource[],
  images: readonly string[],
): Promise<Copies> {
  // Sizes of directories are not known, so that the room is also checked while they are copied.
  const sizes = await sizesOf(deps, { waitMs: SIZES_MS });
  const known = sources.map((each) => each.type === "volume" ? sizes.get(each.source) ?? 0 : 0);
  await assertRoomForCopies(deps, known.reduce((sum, size) => sum + size, 0));
  const copies: Copies = { volumes: new Map(), files: new Map() };
  for (const source of sources) {
    const volume = await copyPatiently(deps, job, source, images);
    if (volume === null) copies.files.set(keyOf(source), source);
    else copies.volumes.set(keyOf(source), volume);
  }
  return copies;
}

/** A file that becomes shorter while it is read spoils the copy, which is begun again. */
async function copyPatiently(
  deps: Deps,
  job: CopyJob,
  source: MountSource,
  images: readonly string[],
): Promise<string | null> {
  for (let attempts = 1;; attempts++) {
    try {
      return await copy(deps, job, source, images);
    } catch (error) {
      if (!(error instanceof TarError || error instanceof TreeError)) throw error;
      if (attempts < ATTEMPTS_MAX) continue;
      const message = `${source.source} could not be copied: ${error.message}`;
      throw new AppError("conflict", message, { cause: error });
    }
  }
}

/** @returns Name of the new volume, empty for one that does not exist yet; `null` for a file. */
async function copy(
  deps: Deps,
  { id, signal, progress }: CopyJob,
  source: MountSource,
  images: readonly string[],
): Promise<string | null> {
  const isNew = source.type === "volume" && !await findVolume(deps.engine, source.source);
  if (isNew) return await createTrialVolume(deps, id, signal);
  const { entries } = await openVolume(deps, source, { images, signal });
  const iterator = entries[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    if (!first.done && first.value.path === "" && first.value.type === "file") return null;
    const name = await createTrialVolume(deps, id, signal);
    let current = 0;
    const all: Entries = (async function* () {
      if (!first.done) yield first.value;
      yield* { [Symbol.asyncIterator]: () => iterator };
    })();
    await writeVolume(deps, { type: "volume", source: name }, whileThereIsRoom(deps, all), {
      signal,
      onProgress: (bytes) =>
        progress({ current: current += bytes, total: null, message: `Copying ${source.source}` }),
    });
    return name;
  } finally {
    await iterator.return?.();
  }
}

/** @returns A function that copies files of the host into a container before it is started. */
export const fillFrom =
  (deps: Deps, { files }: Copies, images: readonly string[], signal: AbortSignal) =>
  async ({ id, member: { mounts } }: TrialContainer): Promise<void> => {
    for (const mount of mounts) {
      const found = sourceOf(mount);
      const source = found && files.get(keyOf(found));
      if (!source) continue;
      const { entries } = await openVolume(deps, source, { images, signal });
      for await (const entry of entries as AsyncIterable<Entry>) {
        await writeContainerFile(deps, id, mount.Destination, { entry, signal });
      }
    }
  };
