/**
 * Paths of snapshots with the service's own data: its backups, and what an earlier snapshot may have.
 *
 * @module
 */

import { directoryPart, volumePart } from "../backup/trees/part.ts";
import { type Access, ownData, ownDataCheck } from "../backup/volumes/own_data.ts";
import type { MountSource } from "../containers/helper_container.ts";
import type { ReadDeps } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { isInside } from "../text/paths.ts";
import { pathText } from "./file_path.ts";
import { OWN_PATH } from "./own/content.ts";

type CheckDeps = ReadDeps & Pick<Deps, "config">;

/** @throws {AppError} `forbidden` for a path in the data. */
export const assertNotOwnPath = (deps: CheckDeps, path: string): Promise<void> =>
  check(deps, [path], "read");

/** @throws {AppError} `forbidden` for a path with the data below it, too, because all of it is read. */
export const assertNoneOwn = (deps: CheckDeps, paths: readonly string[]): Promise<void> =>
  check(deps, paths, "change");

async function check(deps: CheckDeps, paths: readonly string[], access: Access): Promise<void> {
  const backup = paths.find((path) => isInside(pathText(path), OWN_PATH));
  if (backup !== undefined) throw ownData(backup);
  const places = paths.map((path) => ({ path, place: placeOf(pathText(path)) }));
  if (access === "read" && places.every(({ place }) => !place)) return;
  const isOwn = await ownDataCheck(deps);
  for (const { path, place } of places) {
    if (place && await isOwn(place.mount, place.below, access)) throw ownData(path);
  }
}

/** @returns The volume or directory that a path is in; `undefined` for what has other data, or is around all of them. */
function placeOf(path: string): { mount: MountSource; below: string } | undefined {
  const [, volume, below = ""] = /^\/volumes\/([^/]+)(\/.*)?$/s.exec(path) ?? [];
  if (volume !== undefined) return { mount: volumePart(volume).mount, below };
  if (/^\/((directories|dumps|images|stacks|volumes)?|(dumps|images|stacks)\/.*)$/s.test(path)) {
    return undefined;
  }
  // The real restic stores a directory of the host by its own path.
  const directory = /^\/directories(\/.+)$/s.exec(path)?.[1] ?? path;
  return { mount: directoryPart(directory).mount, below: "" };
}
