/** Finds one entry of a snapshot. @module */

import type { ByteString } from "../restic/entry.ts";
import type { Repository } from "../restic/repository.ts";
import { RepositoryError } from "../restic/repository_error.ts";
import type { ListedEntry } from "../restic/restore.ts";
import { translated } from "../targets/repository.ts";
import { parentOf } from "../volumes/limits.ts";

/**
 * @returns `undefined` for a path that the snapshot does not have.
 * @throws {AppError} `conflict`; `bad_gateway` if the target fails.
 */
export async function findEntry(
  repository: Repository,
  snapshot: string,
  path: ByteString,
  signal: AbortSignal,
): Promise<ListedEntry | undefined> {
  return await translated(async () => {
    try {
      for await (const entry of repository.listDirectory(snapshot, parentOf(path), signal)) {
        if (entry.path === path) return entry;
      }
    } catch (error) {
      const isMissing = error instanceof RepositoryError && error.reason === "not_found";
      if (!isMissing) throw error;
    }
  });
}
