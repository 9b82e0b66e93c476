/** The files of a volume. @module */

import { join } from "node:path";
import { findDirectory } from "../backup/volumes/read.ts";
import { assertSource, type VolumeDeps } from "../backup/volumes/mounted.ts";
import { textOf } from "../backup/volumes/shell_path.ts";
import { usersOf, type VolumeUser } from "../backup/volumes/users.ts";
import { writingImages } from "../backup/volumes/writing_images.ts";
import { identityOf } from "../containers/reserve.ts";
import type { Deps } from "../deps.ts";
import { volumePart } from "../backup/trees/part.ts";
import { listMounted, mountedShell, openMounted } from "./mounted_place.ts";
import {
  assertNotData,
  directoriesOfVolume,
  findOwnData,
  ownData,
  withRealPaths,
} from "../backup/volumes/own_data.ts";
import { FILE_OPERATION, type Place } from "./place.ts";

type PlaceDeps = VolumeDeps & Pick<Deps, "reservations">;

/** @throws {AppError} `not_found`; `forbidden` for the volume with the service's own data. */
export async function volumePlace(
  deps: PlaceDeps,
  name: string,
  signal: AbortSignal,
): Promise<Place> {
  const { path: id, mount: source } = volumePart(name);
  const volume = await assertSource(deps, source, signal);
  const data = await findOwnData(deps);
  if (data.volume === name) throw ownData(`Volume ${name}`);
  const directories = await withRealPaths(volume ? directoriesOfVolume(volume) : []);
  const assertAllowed: Place["assertAllowed"] = (path, access) => {
    for (const directory of directories) {
      assertNotData(join(directory, textOf(path)), data.directories, access);
    }
  };
  assertAllowed("", "read");
  const users = await usersOf(deps, source, volume?.Mountpoint);
  const mounted = {
    source,
    directory: await findDirectory(deps, volume, users),
    images: [...new Set(users.map(({ container }) => container.imageId))],
    writingImages: writingImages(users.map(({ container }) => container)),
  };
  return {
    ...{ id, name, runningContainers: writersOf(users) },
    containers: users.map(({ container }) => container),
    assertAllowed,
    list: (path, signal) => listMounted(deps, mounted, path, signal),
    open: (path, from, signal) => openMounted(deps, mounted, path, from, signal),
    shell: (signal) => mountedShell(deps, mounted, signal),
    reserve: () =>
      deps.reservations.reserve({ id, name: id }, "written", {
        affected: users.map(({ container }) => identityOf(container)),
        operation: FILE_OPERATION,
      }),
  };
}

/** Names of the running containers that may write. */
export const writersOf = (users: readonly VolumeUser[]): string[] =>
  users.filter(({ isRunning, isReadOnly }) => isRunning && !isReadOnly)
    .map(({ container }) => container.name).sort();
