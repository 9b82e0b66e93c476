/** Checks parts of a snapshot before anything is stopped or emptied for them. @module */

import type { ByteString, Entries } from "../restic/entry.ts";
import { entriesBelow } from "../restic/entry_directory.ts";
import type { Repository } from "../restic/repository.ts";
import { translated } from "../targets/repository.ts";
import { createTreeCheck } from "../volumes/tree_check.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { lockWait, whileLocked } from "./lock_wait.ts";
import { namedError, type RestoredPart } from "./part.ts";
import { partEntries } from "./part_entries.ts";

/** Parts of a snapshot that are to be written. */
export interface CheckedParts {
  /** Id of the snapshot. */
  snapshot: string;
  parts: readonly RestoredPart[];
  /** Only these files of the parts; `null` for everything. */
  files: readonly ByteString[] | null;
}

/**
 * Reads the trees of parts, without content, and checks each entry as a write does.
 *
 * @returns Bytes that each part writes.
 * @throws {AppError} `conflict` for an entry that cannot be written, and for a damaged tree; `bad_gateway`
 * if the target fails.
 */
export const checkParts = (
  repository: Repository,
  checked: CheckedParts,
  signal: AbortSignal,
): Promise<number[]> =>
  checkEach(repository, checked, {
    signal,
    read: (paths) => repository.listEntries(checked.snapshot, paths, signal),
  });

/**
 * Checks parts, also their content, in a job that replaces something afterwards: what is there may share
 * damaged data with the snapshot, so that nothing could bring it back.
 *
 * @returns Bytes of all parts.
 * @throws {AppError} As {@linkcode checkParts}, and `conflict` for damaged content.
 */
export async function checkBefore(
  repository: Repository,
  checked: CheckedParts,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<number> {
  const { signal, progress } = job;
  let current = 0;
  const sizes = await whileLocked(repository, job, () =>
    checkEach(repository, checked, {
      signal,
      read: (paths) => repository.entries(checked.snapshot, { paths, ...lockWait(job) }, signal),
      onProgress: (size, message) => progress({ current: current += size, total: null, message }),
    }));
  return sizes.reduce((sum, size) => sum + size, 0);
}

interface CheckOptions {
  signal: AbortSignal;
  read(paths: readonly ByteString[]): Entries;
  /** Called with the size of each file, and the path of its part. */
  onProgress?(size: number, part: string): void;
}

async function checkEach(
  repository: Repository,
  { snapshot, parts, files }: CheckedParts,
  { signal, read, onProgress }: CheckOptions,
): Promise<number[]> {
  return await translated(async () => {
    const sizes: number[] = [];
    for (const { from, to } of parts) {
      // A path of the host, which may be a file, is written by its name.
      const isNamed = to.mount.type === "bind" && files === null;
      const entries = partEntries({ repository, snapshot, files, signal }, from, read);
      try {
        const named = isNamed ? entriesBelow("name", entries) : entries;
        sizes.push(await checkEntries(named, (size) => onProgress?.(size, to.path)));
      } catch (error) {
        throw namedError(to, error);
      }
    }
    return sizes;
  });
}

/** @returns Bytes of the files. @throws {TreeError} For an entry that must not be written. */
async function checkEntries(
  entries: Entries,
  onProgress: (size: number) => void,
): Promise<number> {
  const check = createTreeCheck();
  let sum = 0;
  for await (const entry of entries) {
    check(entry);
    const size = entry.hardLinkTo === undefined ? entry.size : 0;
    sum += size;
    onProgress(size);
  }
  return sum;
}
