/** Writes what a snapshot has into volumes and directories. @module */

import type { ByteString, Entries, Entry } from "../../backup/restic/entry.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import { findHelperImage } from "../../backup/volumes/helper_image.ts";
import { parentOf } from "../../backup/volumes/limits.ts";
import { emptyVolume } from "../../backup/volumes/operations.ts";
import { writeVolume } from "../../backup/volumes/write.ts";
import type { Deps } from "../../deps.ts";
import { translated } from "../repositories.ts";
import type { RestoreJob, RestoreResult } from "./job.ts";

/** A snapshot that is written. */
export interface Source {
  repository: Repository;
  /** Its id. */
  snapshot: string;
  /** Whether what is there is deleted before. */
  empties: boolean;
  signal: AbortSignal;
}

/** @throws {AppError} `conflict` for what cannot be read or written; `bad_gateway` if the target fails. */
export async function writeParts(
  deps: Deps,
  { input: { files, parts, images }, progress }: Pick<RestoreJob, "input" | "progress">,
  { repository, snapshot, empties, signal }: Source,
): Promise<Pick<RestoreResult, "bytes" | "skippedCount">> {
  const image = empties ? await findHelperImage(deps, images, signal) : undefined;
  const sum = { bytes: 0, skippedCount: 0 };
  for (const { from, to: { mount, path } } of parts) {
    if (image) await emptyVolume(deps, { source: mount, image, signal });
    const paths = files?.filter((file) => file.startsWith(`${from}/`)) ?? [from];
    const parents = files
      ? await translated(() => findParents({ repository, snapshot, signal }, from, paths))
      : [];
    const chosen = repository.entries(snapshot, { paths }, signal);
    const entries = below(from, withParents(parents, chosen));
    let bytes = sum.bytes;
    const written = await translated(() =>
      writeVolume(deps, mount, entries, {
        signal,
        onProgress: (size) => progress({ current: bytes += size, total: null, message: path }),
      })
    );
    sum.bytes += written.bytes;
    sum.skippedCount += written.skipped.count;
  }
  return sum;
}

/** Directories of the snapshot around chosen paths, which the volume may have lost; outer ones first. */
async function findParents(
  { repository, snapshot, signal }: Pick<Source, "repository" | "snapshot" | "signal">,
  from: ByteString,
  paths: readonly ByteString[],
): Promise<Entry[]> {
  const wanted = new Set(paths.flatMap((path) => directoriesAround(path, from)));
  const isChosen = (directory: ByteString) =>
    paths.some((path) => `${directory}/`.startsWith(`${path}/`));
  const found: Entry[] = [];
  for (const directory of wanted) {
    if (isChosen(directory)) continue;
    for await (const entry of repository.listDirectory(snapshot, parentOf(directory), signal)) {
      if (entry.path === directory) found.push(entry);
    }
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
