/** Checks parts of a snapshot before anything is stopped or emptied for them. @module */

import type { ByteString, Entries } from "../restic/entry.ts";
import { entriesBelow } from "../restic/entry_directory.ts";
import type { Repository } from "../restic/repository.ts";
import { translated } from "../targets/repository.ts";
import { createTreeCheck } from "../volumes/tree_check.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { whileLocked } from "./lock_wait.ts";
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
export async function checkParts(
  repository: Repository,
  { snapshot, parts, files }: CheckedParts,
  signal: AbortSignal,
): Promise<number[]> {
  const source = { repository, snapshot, files, signal };
  const read = (paths: readonly ByteString[]) => repository.listEntries(snapshot, paths, signal);
  return await translated(async () => {
    const sizes: number[] = [];
    for (const { from, to } of parts) {
      // A path of the host, which may be a file, is written by its name.
      const isNamed = to.mount.type === "bind" && files === null;
      const entries = partEntries(source, from, read);
      try {
        sizes.push(await checkEntries(isNamed ? entriesBelow("name", entries) : entries));
      } catch (error) {
        throw namedError(to, error);
      }
    }
    return sizes;
  });
}

/** @returns Bytes of the files. @throws {TreeError} For an entry that must not be written. */
async function checkEntries(entries: Entries): Promise<number> {
  const check = createTreeCheck();
  let size = 0;
  for await (const entry of entries) {
    check(entry);
    if (entry.hardLinkTo === undefined) size += entry.size;
  }
  return size;
}

/**
 * Checks parts in a job that stops containers afterwards.
 *
 * @returns Bytes of all parts.
 * @throws {AppError} As {@linkcode checkParts}.
 */
export async function checkBefore(
  repository: Repository,
  checked: CheckedParts,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<number> {
  const sizes = await whileLocked(
    repository,
    job,
    () => checkParts(repository, checked, job.signal),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
