/** Stores a backup of Longshore itself as a snapshot. @module */

import { openBackupArchive } from "../../backup/download.ts";
import type { Entries } from "../../backup/restic/entry.ts";
import { openTargetRepository } from "../../backup/targets/open.ts";
import { storeEntries } from "../../backup/trees/store.ts";
import { tagsOf } from "../../backup/trees/tags.ts";
import type { Deps } from "../../deps.ts";
import { recordOwnBackup } from "../last_backups.ts";
import { OWN_FILE, OWN_PATH } from "./content.ts";
import type { OwnBackupJob, OwnBackupResult } from "./job.ts";

/**
 * Makes a backup. A download at the same time, which may take hours, does not delay it.
 *
 * @throws {AppError} `conflict` for a repository that cannot be used; `unavailable` if the state
 * database cannot be copied; `bad_gateway` if the target fails.
 */
export async function takeOwnBackup(deps: Deps, job: OwnBackupJob): Promise<OwnBackupResult> {
  const { input: { targetId, place, reason, note }, signal } = job;
  const result = await job.step("read", async (): Promise<OwnBackupResult> => {
    using opened = await openTargetRepository(deps, targetId, signal);
    using archive = await openBackupArchive(deps, signal);
    const { snapshot, size, added } = await storeEntries(
      deps,
      opened.repository,
      entriesOf(archive),
      {
        paths: [OWN_PATH],
        tags: tagsOf({ stack: null, reason, note }),
        size: archive.size,
        job,
      },
    );
    return { snapshot, size, added, target: place };
  });
  recordOwnBackup(deps, job.input, result);
  return result;
}

/** The archive as a file that only root may read, where restic restores it. */
async function* entriesOf(
  { createdAt, size, chunks }: Awaited<ReturnType<typeof openBackupArchive>>,
): Entries {
  const mtime = BigInt(createdAt.getTime()) * 1_000_000n;
  const common = { uid: 0, gid: 0, mtime };
  yield { path: OWN_PATH.slice(1), type: "dir", mode: 0o700, size: 0, ...common };
  yield { path: OWN_FILE, type: "file", mode: 0o600, size, ...common, content: copies(chunks()) };
}

/** The archive overwrites a chunk with the next one. */
async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield chunk.slice();
}
