/** The snapshot in which a new one looks for files that have not changed. @module */

import type { Deps } from "../../deps.ts";
import type { Id } from "../restic/id.ts";
import type { Repository } from "../restic/repository.ts";
import { isMadeHere } from "./tags.ts";

/**
 * Finds the snapshot of this host that has most of the paths in common, and of these the newest.
 *
 * @returns `undefined` also without `VOLUMES_PATH`: archives do not identify files, so that all of
 * them are read.
 */
export async function findParent(
  deps: Pick<Deps, "server"> & { config: Pick<Deps["config"], "volumesPath"> },
  repository: Pick<Repository, "snapshots">,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Id | undefined> {
  if (deps.config.volumesPath === null) return undefined;
  // A parent saves time only: without it, all files are read.
  const snapshots = await repository.snapshots(signal).catch(() => []);
  let found: Id | undefined;
  let most = 1;
  for (const snapshot of snapshots) {
    if (!isMadeHere(deps, snapshot)) continue;
    const count = snapshot.paths.filter((path) => paths.includes(path)).length;
    if (count < most) continue;
    most = count;
    found = snapshot.id;
  }
  return found;
}
