/**
 * Index of a repository, compared with the packs that are there. What a backup reuses must exist.
 *
 * @module
 */

import type { Id } from "./id.ts";
import { loadIndexFiles, type PackBlobs } from "./index_file.ts";
import { createMasterIndex, type MasterIndex } from "./master_index.ts";
import { readHeader } from "./pack.ts";
import { isLoss } from "./blob_reader.ts";
import { listFiles, type RepositoryFiles, storedHash } from "./repository_files.ts";
import type { StoredFile } from "./storage.ts";

/** Packs without an index that one run inspects. */
const ORPHANS_MAX = 10_000;

/** Size of the largest pack that is written here or by restic. */
const PACK_BYTES_MAX = 160 * 1024 * 1024;

/** The index from all index files. @throws {RepositoryError} `damaged` */
export async function loadIndex(files: RepositoryFiles, signal: AbortSignal): Promise<MasterIndex> {
  const index = createMasterIndex();
  await loadIndexFiles(files, index, signal);
  return index;
}

/**
 * Compares the index with the target: packs that are missing, or have another size than their blobs,
 * are hidden, so that their blobs are saved again.
 *
 * @returns Packs that no index file lists.
 */
export async function compareWithPacks(
  files: RepositoryFiles,
  index: MasterIndex,
  signal: AbortSignal,
): Promise<{ missing: Id[]; orphans: StoredFile[] }> {
  const sizes = new Map<Id, number>();
  const orphans: StoredFile[] = [];
  for await (const file of listFiles(files.storage, "data", signal)) {
    if (index.hasPack(file.name)) sizes.set(file.name, file.size);
    else orphans.push(file);
  }
  const missing = Array.from(index.packs())
    .filter(({ id, size }) => sizes.get(id) !== size)
    .map(({ id }) => id);
  for (const id of missing) index.hidePack(id);
  return { missing, orphans };
}

/**
 * Packs that an interrupted run has written whole, without an index.
 *
 * @param orphans Packs that no index file lists.
 */
export async function* findWholePacks(
  files: RepositoryFiles,
  orphans: readonly StoredFile[],
  signal: AbortSignal,
): AsyncGenerator<PackBlobs> {
  for (const file of orphans.slice(0, ORPHANS_MAX)) {
    signal.throwIfAborted();
    if (file.size > PACK_BYTES_MAX) continue;
    try {
      const blobs = await readHeader(files, file, signal);
      if (await storedHash(files.storage, "data", file, signal) !== file.name) continue;
      yield { id: file.name, blobs };
    } catch (error) {
      // One that is damaged stays until the next prune.
      if (!isLoss(error)) throw error;
    }
  }
}
