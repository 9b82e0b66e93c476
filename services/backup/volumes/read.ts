/**
 * Entries of a volume or a directory of the host, read through the engine: a container of Longshore's
 * own has it mounted read-only and is never started. `docs/backup-fidelity.md` says what each engine
 * hands out.
 *
 * @module
 */

import { containerArchiveStream } from "../../../engine/container_archive.ts";
import { findVolume, type Volume } from "../../../engine/volumes.ts";
import {
  createHelper,
  type HelperDeps,
  type MountSource,
  removeHelper,
} from "../../containers/helper_container.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Entries } from "../restic/entry.ts";
import { createSkipList, type SkipList } from "./limits.ts";
import { readTar } from "./tar_reader.ts";

export type VolumeDeps = HelperDeps & Pick<Deps, "config">;

/** A volume that is being read. Disposing it removes its helper container. */
export interface OpenVolume extends AsyncDisposable {
  /**
   * The root with the path "", then what is in it: a directory before its content, names in byte
   * order. Can be iterated once. Errors are {@linkcode TarError} and {@linkcode TreeError}, e.g. for
   * an archive that ends early because a file became shorter, and those of the engine.
   */
  entries: Entries;
  /** Complete after the last entry. */
  skipped: SkipList;
}

/**
 * Opens a volume for one reading. The engine waits while the entries are not consumed.
 *
 * @throws {AppError} `not_found` for a volume that does not exist; `conflict` for a directory that the
 * host does not have.
 */
export async function openVolume(
  deps: VolumeDeps,
  source: MountSource,
  { signal }: { signal: AbortSignal },
): Promise<OpenVolume> {
  const helper = await createVolumeHelper(deps, source, { isReadOnly: true, signal });
  const skipped = createSkipList();
  return {
    entries: readArchive(deps, helper, { skipped, signal }),
    skipped,
    [Symbol.asyncDispose]: () => removeHelper(deps, helper.id),
  };
}

async function* readArchive(
  { engine }: Pick<Deps, "engine">,
  { id, root }: VolumeHelper,
  { skipped, signal }: { skipped: SkipList; signal: AbortSignal },
): Entries & AsyncGenerator {
  const response = await containerArchiveStream(engine, id, { path: `/${root}`, signal });
  if (!response) throw new AppError("conflict", "The helper container was removed; try again");
  yield* readTar(response.body, { root, skipped });
}

/** A container with one mount, never started. */
export interface VolumeHelper {
  id: string;
  /** Name of the directory below `/` where it is mounted. No link in it can know it. */
  root: string;
}

/** Creates the container through which a volume is read or written. */
export async function createVolumeHelper(
  deps: HelperDeps,
  source: MountSource,
  { isReadOnly, signal }: { isReadOnly: boolean; signal: AbortSignal },
): Promise<VolumeHelper> {
  await assertSource(deps, source, signal);
  const root = `longshore-${crypto.randomUUID()}`;
  const mount = { ...source, target: `/${root}`, isReadOnly };
  const id = await createHelper(deps, [mount], { isLong: true, signal });
  if (id === undefined) throw missingDirectory(source);
  return { id, root };
}

/**
 * The engine would create a missing volume.
 *
 * @returns The volume; `undefined` for a directory, which the engine checks itself.
 * @throws {AppError} `not_found`
 */
export async function assertSource(
  { engine }: Pick<Deps, "engine">,
  { type, source }: MountSource,
  signal: AbortSignal,
): Promise<Volume | undefined> {
  if (type === "bind") return undefined;
  const volume = await findVolume(engine, source, { signal });
  if (!volume) throw notFound("Volume", source);
  return volume;
}

export const missingDirectory = ({ source }: MountSource): AppError =>
  new AppError("conflict", `Directory ${source} does not exist on the host`);
