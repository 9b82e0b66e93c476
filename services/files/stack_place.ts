/**
 * The files of a stack's directory on the host. Its Compose files, variables and the files that they
 * read are changed as sources, which are checked and have versions.
 *
 * @module
 */

import { basename } from "node:path";
import { selectCurrentVersion } from "../../db/stack_versions.ts";
import { bytesOf } from "../backup/restic/entry_directory.ts";
import { directoryPart } from "../backup/trees/part.ts";
import { textOf } from "../backup/volumes/shell_path.ts";
import { usersOf, type VolumeUser } from "../backup/volumes/users.ts";
import { COMPOSE_NAMES, OVERRIDE_NAMES, placeOfProject } from "../compose/disk_sources.ts";
import { ENV_FILE } from "../compose/load/compose_file.ts";
import { isInside } from "../text/paths.ts";
import { rootOf } from "../compose/project_files.ts";
import { openVersion } from "../compose/versions.ts";
import { identityOf } from "../containers/reserve.ts";
import { currentContainers, type ReadDeps } from "../containers/reads.ts";
import type { VolumeDeps } from "../backup/volumes/mounted.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { listMounted, mountedShell, openMounted } from "./mounted_place.ts";
import { assertNotData, findOwnData, withRealPaths } from "../backup/volumes/own_data.ts";
import { FILE_OPERATION, type Place } from "./place.ts";
import { writersOf } from "./volume_place.ts";

type PlaceDeps = VolumeDeps & Pick<Deps, "db" | "reservations" | "secrets">;

/** Names of sources, in any directory: a project can have others in its own. */
const SOURCE_NAMES: ReadonlySet<string> = new Set([...COMPOSE_NAMES, ...OVERRIDE_NAMES, ENV_FILE]);

/**
 * @throws {AppError} `not_found`; `conflict` for a stack without a directory below `STACK_ROOTS`.
 */
export async function stackPlace(deps: PlaceDeps, name: string): Promise<Place> {
  const { directory, sources } = await findDirectory(deps, name);
  const root = rootOf(deps, directory);
  const { path: id, mount: source } = directoryPart(directory);
  const { directories: own } = await findOwnData(deps);
  const names = await withRealPaths([directory]);
  const users = await usersOf(deps, source);
  const members = await membersOf(deps, name, users);
  const around = {
    source: { type: "bind", source: root } as const,
    path: bytesOf(directory.slice(root.length + 1)),
  };
  // The directory around has other stacks, which the programs of this one's images must not read.
  const mounted = { source, around, directory: undefined, images: [], writingImages: [] };
  return {
    ...{ id, name, runningContainers: writersOf(users) },
    containers: [...members, ...users].map(({ container }) => container),
    assertAllowed(path, access) {
      const below = textOf(path);
      for (const name of names) assertNotData(`${name}/${below}`, own, access);
      if (access === "change") assertNotSource(`${directory}/${below}`, sources);
    },
    list: (path, signal) => listMounted(deps, mounted, path, signal),
    open: (path, from, signal) => openMounted(deps, mounted, path, from, signal),
    shell: (signal) => mountedShell(deps, mounted, signal),
    reserve: () =>
      deps.reservations.reserve({ id: name, name }, "written", {
        affected: [...members, ...users].map(({ container }) => identityOf(container)),
        operation: FILE_OPERATION,
      }),
  };
}

/** @returns The directory, and the absolute paths of the sources. */
async function findDirectory(
  deps: PlaceDeps,
  name: string,
): Promise<{ directory: string; sources: string[] }> {
  const stored = selectCurrentVersion(deps.db, name);
  const opened = stored && openVersion(deps, stored).sources;
  if (opened && !opened.place) {
    throw new AppError(
      "conflict",
      `Stack ${name} has no directory on the host: its sources are stored in Longshore`,
    );
  }
  const { directory, configFiles, envFiles = [] } = opened?.place ??
    await placeOfProject(deps, name, "its directory is not known");
  const read = Object.keys(opened?.files ?? {}).map((file) => `${directory}/${file}`);
  return { directory, sources: [...configFiles, ...envFiles, ...read] };
}

function assertNotSource(path: string, sources: readonly string[]): void {
  const isSource = SOURCE_NAMES.has(basename(path)) ||
    sources.some((source) => isInside(source, path));
  if (!isSource) return;
  throw new AppError(
    "conflict",
    `${path} belongs to the sources of a stack; change it in the source editor ` +
      "(PUT /api/stacks/{name}/source), which checks it and keeps versions",
  );
}

async function membersOf(
  deps: ReadDeps,
  name: string,
  users: readonly VolumeUser[],
): Promise<Pick<VolumeUser, "container">[]> {
  const known = new Set(users.map(({ container }) => container.id));
  return (await currentContainers(deps))
    .filter(({ id, composeProject }) => composeProject === name && !known.has(id))
    .map((container) => ({ container }));
}
