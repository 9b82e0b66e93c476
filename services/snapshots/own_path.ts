/**
 * Paths of snapshots with the service's own data: its backups, and what an earlier snapshot may have.
 *
 * @module
 */

import { directoryPart, volumePart } from "../backup/trees/part.ts";
import { ownData, ownDataCheck } from "../backup/volumes/own_data.ts";
import type { MountSource } from "../containers/helper_container.ts";
import type { ReadDeps } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { isInside } from "../text/paths.ts";
import { pathText } from "./file_path.ts";
import { OWN_PATH } from "./own/content.ts";

/** @throws {AppError} `forbidden` */
export async function assertNotOwnPath(
  deps: ReadDeps & Pick<Deps, "config">,
  ...paths: readonly string[]
): Promise<void> {
  const backup = paths.find((path) => isInside(pathText(path), OWN_PATH));
  if (backup !== undefined) throw ownData(backup);
  const places = paths.map((path) => ({ path, place: placeOf(pathText(path)) }));
  if (places.every(({ place }) => !place)) return;
  const isOwn = await ownDataCheck(deps);
  for (const { path, place } of places) {
    if (place && await isOwn(place.mount, place.below, "read")) throw ownData(path);
  }
}

/** @returns The volume or directory that a path is in; `undefined` for what is around all of them. */
function placeOf(path: string): { mount: MountSource; below: string } | undefined {
  const [, volume, below = ""] = /^\/volumes\/([^/]+)(\/.*)?$/s.exec(path) ?? [];
  if (volume !== undefined) return { mount: volumePart(volume).mount, below };
  const directory = /^\/directories(\/.+)$/s.exec(path)?.[1];
  return directory === undefined ? undefined : { mount: directoryPart(directory).mount, below: "" };
}
