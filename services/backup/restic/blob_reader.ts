/**
 * Reader of single blobs. A blob that is in several packs is read from the next one when a pack is
 * missing or damaged.
 *
 * @module
 */

import { type BlobType, decodeBlob } from "./blob.ts";
import { type Id, short } from "./id.ts";
import type { MasterIndex } from "./master_index.ts";
import { damaged, RepositoryError } from "./repository_error.ts";
import type { RepositoryFiles } from "./repository_files.ts";
import { StorageError } from "./storage.ts";

/** @throws {RepositoryError} `damaged` if no pack has it. */
export async function loadBlob(
  files: RepositoryFiles,
  index: MasterIndex,
  type: BlobType,
  id: Id,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let failure: unknown = damaged(`Blob ${short(id)}`, `no index has it as ${type}`);
  for (const blob of index.find(type, id)) {
    signal.throwIfAborted();
    try {
      const { offset, length } = blob;
      const sealed = await files.storage.read("data", blob.pack, signal, { offset, length });
      return await decodeBlob(files, blob, sealed);
    } catch (error) {
      if (!isLoss(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Whether another copy may help. */
export const isLoss = (error: unknown) =>
  error instanceof RepositoryError ||
  (error instanceof StorageError && (error.reason === "not_found" || error.reason === "damaged"));
