/** Sources that come back from a snapshot, also under another name or in another directory. @module */

import { dirname, join } from "node:path";
import { selectCurrentVersion } from "../../db/stack_versions.ts";
import type { Deps } from "../deps.ts";
import { readSources, textsOf } from "./disk_sources.ts";
import { isInside } from "../text/paths.ts";
import { type FileDeps, withHostFiles } from "./project_files.ts";
import { isSame, storeNewStack } from "./sources.ts";
import { keptSources, type StoredSources } from "./validate.ts";
import { findVersion, insertVersion, openVersion, removeVersions } from "./versions.ts";

type RestoreDeps = FileDeps & Pick<Deps, "db" | "secrets">;

/** The directory of a stack under another name: next to the one that it had. */
export const directoryFor = (directory: string, name: string): string =>
  join(dirname(directory), name);

/** Sources of a stack on disk as those of another directory. Others stay as they are. */
export function moveSources(sources: StoredSources, directory: string): StoredSources {
  const { place } = sources;
  if (!place) return sources;
  const move = (path: string) => moved(path, place.directory, directory);
  return {
    ...sources,
    place: {
      ...place,
      directory,
      configFiles: place.configFiles.map(move),
      ...(place.envFiles && { envFiles: place.envFiles.map(move) }),
    },
  };
}

/** The path in another directory, if it is in the first one. */
export const moved = (path: string, from: string, to: string): string =>
  isInside(path, from) ? to + path.slice(from.length) : path;

/**
 * Stores sources as the current version, those of a stack on disk in its files as well. Can be repeated.
 *
 * @returns The version.
 * @throws {AppError} `invalid` for sources that cannot be deployed; `conflict` for files that cannot be
 * written, and when the limit of stacks is reached.
 */
export async function storeRestored(
  deps: RestoreDeps,
  { name, userId, sources }: { name: string; userId: string; sources: StoredSources },
): Promise<number> {
  const written = sources.place ? await writeSources(deps, sources) : sources;
  const current = selectCurrentVersion(deps.db, name);
  if (!current) {
    const created = { name, kind: "compose", sources: written } as const;
    return (await storeNewStack(deps, { userId }, created)).version;
  }
  const { version, kind } = current;
  if (isSame(openVersion(deps, current).sources, written)) return version;
  const next = { name, kind, version: version + 1, sources: written };
  return insertVersion(deps, userId, next).version;
}

async function writeSources(deps: RestoreDeps, sources: StoredSources): Promise<StoredSources> {
  const { profiles, recovered } = sources;
  const place = sources.place!;
  return await withHostFiles(deps, place.directory, "write", async (files) => {
    await files.write(textsOf(place, sources), place.configFiles[0]!);
    const read = await readSources(deps, files, place, { profiles, recovered });
    return { ...read, ...keptSources(sources) };
  });
}

/** Lets a version be the current one again. Without one, the sources of the stack are removed. */
export async function returnToVersion(
  deps: RestoreDeps,
  { name, userId, version }: { name: string; userId: string; version: number | null },
): Promise<void> {
  if (version === null) {
    removeVersions(deps, name);
    return;
  }
  const { sources } = openVersion(deps, findVersion(deps, name, version));
  await storeRestored(deps, { name, userId, sources });
}
