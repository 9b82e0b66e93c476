/** Entries of a part of a snapshot, with paths relative to the part. @module */

import type { ByteString, Entries, Entry } from "../restic/entry.ts";
import type { Repository } from "../restic/repository.ts";
import { findEntry } from "./find_entry.ts";

export interface PartSource {
  repository: Repository;
  /** Id of the snapshot. */
  snapshot: string;
  /** Only these files of the parts; `null` for everything. */
  files: readonly ByteString[] | null;
  signal: AbortSignal;
}

/**
 * @param from Directory or file of the snapshot.
 * @param read Reads paths of the snapshot, with content or without.
 */
export async function* partEntries(
  source: PartSource,
  from: ByteString,
  read: (paths: readonly ByteString[]) => Entries,
): Entries & AsyncGenerator<Entry> {
  const { files } = source;
  const paths = files?.filter((file) => file.startsWith(`${from}/`)) ?? [from];
  const parents = files ? await findParents(source, from, paths) : [];
  yield* below(from, withParents(parents, read(paths)));
}

/** Directories of the snapshot around chosen paths, which the volume may have lost; outer ones first. */
async function findParents(
  { repository, snapshot, signal }: PartSource,
  from: ByteString,
  paths: readonly ByteString[],
): Promise<Entry[]> {
  const wanted = new Set(paths.flatMap((path) => directoriesAround(path, from)));
  const isChosen = (directory: ByteString) =>
    paths.some((path) => `${directory}/`.startsWith(`${path}/`));
  const found: Entry[] = [];
  for (const directory of wanted) {
    if (isChosen(directory)) continue;
    const entry = await findEntry(repository, snapshot, directory, signal);
    if (entry) found.push(entry);
  }
  return found;
}

/** E.g. `volumes/data/a` and `volumes/data/a/b` of `volumes/data/a/b/file` in `volumes/data`. */
function directoriesAround(path: ByteString, from: ByteString): ByteString[] {
  const names = path.slice(from.length + 1).split("/").slice(0, -1);
  return names.map((_, at) => [from, ...names.slice(0, at + 1)].join("/"));
}

/** A directory comes before its content. */
async function* withParents(
  parents: readonly Entry[],
  entries: Entries,
): Entries & AsyncGenerator<Entry> {
  const missing = new Set(parents);
  for await (const entry of entries) {
    for (const parent of missing) {
      if (!entry.path.startsWith(`${parent.path}/`)) continue;
      missing.delete(parent);
      yield parent;
    }
    yield entry;
  }
}

/** Entries with paths relative to a directory of the snapshot. */
async function* below(directory: ByteString, entries: Entries): Entries & AsyncGenerator<Entry> {
  const relative = (path: ByteString) => path.slice(directory.length + 1);
  for await (const entry of entries) {
    yield {
      ...entry,
      path: relative(entry.path),
      ...(entry.hardLinkTo !== undefined && { hardLinkTo: relative(entry.hardLinkTo) }),
    };
  }
}
