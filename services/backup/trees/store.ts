/** Stores volumes, directories and dumps as a snapshot in a repository. @module */

import type { Entries, Entry } from "../restic/entry.ts";
import type { Repository } from "../restic/repository.ts";
import { createWorstFirst, type SkipList } from "../volumes/limits.ts";
import { textOf } from "../volumes/shell_path.ts";
import type { Deps } from "../../deps.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { VERSION } from "../../version.ts";
import { translated } from "../targets/repository.ts";
import { createFailureWatch, type FailureWatch } from "./failure_watch.ts";
import { lockWait } from "./lock_wait.ts";
import { findParent } from "./parent.ts";
import { serverTag } from "./tags.ts";
import { createSqliteWatch } from "./sqlite.ts";
import { treeOf, type TreeSource } from "./tree.ts";

/** A stored snapshot. */
export interface Stored {
  /** Its id. */
  snapshot: string;
  files: number;
  /** Of all files, in bytes. */
  size: number;
  /** Stored at the target, in bytes; the rest was there. */
  added: number;
  /** 100 paths that it does not have, with the reason; those whose content is lost come first. */
  skipped: { path: string; reason: string }[];
  skippedCount: number;
  /** Parts with SQLite databases, e.g. `/volumes/shop_data`; missing in results of earlier versions. */
  sqlite?: string[];
}

const SKIPPED_MAX = 100;

/**
 * Stores a snapshot of this host.
 *
 * @param options.images Those of the containers, for helper containers.
 * @param options.job Gets the progress, and ends the work.
 * @param options.size Estimated bytes of all files.
 * @param options.sqlite Parts in which an earlier snapshot had SQLite databases.
 * @throws {AppError} `conflict` for what cannot be read or stored; `bad_gateway` if the target fails.
 */
export async function storeTree(
  deps: Deps,
  repository: Repository,
  source: TreeSource,
  { tags, images, size = null, sqlite, job }: {
    tags: string[];
    images: readonly string[];
    size?: number | null;
    sqlite?: readonly string[];
    job: Pick<JobRun, "signal" | "progress">;
  },
): Promise<Stored> {
  const { signal } = job;
  const skipped = createSkipped();
  const tree = treeOf(deps, source, {
    at: deps.now(),
    signal,
    images: [...new Set(images)],
    onSkipped: skipped.add,
  });
  const { parts, described } = source;
  const paths = [...parts.map(({ path }) => path), ...(described ? [described.path] : [])];
  const parent = await findParent(deps, repository, paths, signal);
  const databases = createSqliteWatch(parts, sqlite);
  const entries = databases.watch(tree);
  const stored = await storeEntries(deps, repository, entries, { paths, tags, parent, size, job });
  return { ...stored, ...skipped.result(), sqlite: databases.parts() };
}

/**
 * Stores entries as a snapshot of this host.
 *
 * @param options.parent Snapshot whose unchanged files are not read again.
 * @throws {AppError} As {@linkcode storeTree}.
 */
export async function storeEntries(
  deps: Pick<Deps, "server">,
  repository: Repository,
  entries: Entries,
  { paths, tags, parent, size, job: { signal, progress } }: {
    paths: string[];
    tags: string[];
    parent?: string | undefined;
    size: number | null;
    job: Pick<JobRun, "signal" | "progress">;
  },
): Promise<Omit<Stored, "skipped" | "skippedCount" | "sqlite">> {
  const failures = createFailureWatch();
  const { snapshot, counts, bytesAdded } = await translated(() =>
    repository.backup(watchedEntries(entries, failures), {
      paths,
      tags: [...tags, serverTag(deps)],
      ...(parent !== undefined && { parent }),
      hostname: deps.server.name,
      username: "longshore",
      programVersion: `longshore ${VERSION}`,
      ...lockWait({ progress }),
      onProgress: ({ bytes }, path) =>
        progress({
          current: bytes,
          total: size !== null && size >= bytes ? size : null,
          message: partOf(path),
        }),
    }, signal).catch((error) => {
      throw failures.failure() ?? error;
    })
  );
  return {
    snapshot: snapshot.id,
    files: counts.files,
    size: counts.bytes,
    added: bytesAdded,
  };
}

/** Entries and their content, watched. */
async function* watchedEntries(
  entries: Entries,
  { watch }: FailureWatch,
): Entries & AsyncGenerator<Entry> {
  for await (const entry of watch(entries)) {
    yield entry.content ? { ...entry, content: watch(entry.content) } : entry;
  }
}

/** The entries that parts have left out, under their paths. */
export function createSkipped() {
  const worst = createWorstFirst(SKIPPED_MAX);
  let skippedCount = 0;
  return {
    add(part: string, { items, count }: SkipList) {
      skippedCount += count;
      for (const { path, reason } of items) {
        worst.add({ path: `${part}/${textOf(path)}`, reason });
      }
    },
    result: () => ({ skipped: worst.items(), skippedCount }),
  };
}

/** The volume that a file is in: names of files are not shown to everybody who sees jobs. */
const partOf = (path: string): string => textOf(path.split("/", 2).join("/"));
