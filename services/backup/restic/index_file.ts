/**
 * Index files (design document, "Indexing"): JSON that lists packs and their blobs. An index file can
 * supersede others, which are removed afterwards.
 *
 * @module
 */

import { blobBytesMax, type BlobType, type PackedBlob, plainLength } from "./blob.ts";
import { CRYPTO_OVERHEAD } from "./crypto.ts";
import type { Id } from "./id.ts";
import { type Shape, shapeOf } from "./json_shape.ts";
import type { MasterIndex } from "./master_index.ts";
import { BLOBS_MAX } from "./limits.ts";
import { damaged, RepositoryError } from "./repository_error.ts";
import {
  listFiles,
  loadJson,
  type RepositoryFiles,
  saveJson,
  titleOf,
} from "./repository_files.ts";

/** Blobs in one index file, as in restic: about 8 MiB of JSON. */
export const INDEX_BLOBS_MAX = 50_000;

/** Largest offset in a pack and length of a blob: four bytes. */
const UINT32_MAX = 0xffffffff;

/** Pack as an index file lists it. */
export interface PackBlobs {
  id: Id;
  blobs: readonly PackedBlob[];
}

/**
 * Adds all index files to `index`.
 *
 * @returns Names of the files.
 * @throws {RepositoryError} `damaged`
 */
export async function loadIndexFiles(
  files: RepositoryFiles,
  index: MasterIndex,
  signal: AbortSignal,
): Promise<Id[]> {
  const names: Id[] = [];
  for await (const { name } of listFiles(files.storage, "index", signal)) names.push(name);
  for (const name of names) {
    signal.throwIfAborted();
    await loadIndexFile(files, index, name, signal);
  }
  return names;
}

/** Adds one index file to `index`. @throws {RepositoryError} `damaged`; `unsupported` for too many blobs. */
export async function loadIndexFile(
  files: RepositoryFiles,
  index: MasterIndex,
  name: Id,
  signal: AbortSignal,
): Promise<void> {
  const title = titleOf("index", name);
  const shape = shapeOf(title);
  const fields = shape.object(await loadJson(files, "index", name, signal), "the file");
  for (const value of shape.array(fields.packs ?? [], "packs")) {
    const pack = shape.object(value, "a pack");
    const blobs = shape.array(pack.blobs ?? [], "blobs");
    if (blobs.length === 0) continue; // It would take memory, and is of no use.
    assertBlobsFit(index, blobs.length);
    index.addPack(shape.id(pack.id, "id"), blobs.map((blob) => readBlob(blob, shape, title)));
  }
}

/** @throws {RepositoryError} `unsupported` if the index would have more than {@linkcode BLOBS_MAX}. */
export function assertBlobsFit(index: MasterIndex, more: number): void {
  if (index.count + more <= BLOBS_MAX) return;
  throw new RepositoryError("unsupported", `The index has more than ${BLOBS_MAX} blobs`);
}

function readBlob(value: unknown, shape: Shape, title: string): PackedBlob {
  const fields = shape.object(value, "a blob");
  if (fields.type !== "data" && fields.type !== "tree") throw damaged(title, "type is unknown");
  const type: BlobType = fields.type;
  const blob = {
    id: shape.id(fields.id, "id"),
    type,
    offset: shape.count(fields.offset, "offset", UINT32_MAX),
    length: shape.count(fields.length, "length", UINT32_MAX),
    uncompressedLength: fields.uncompressed_length === undefined
      ? undefined
      : shape.count(fields.uncompressed_length, "uncompressed_length", UINT32_MAX - 1),
  };
  if (blob.length < CRYPTO_OVERHEAD) throw damaged(title, "a blob has an impossible length");
  if (plainLength(blob) > blobBytesMax(type)) {
    throw damaged(title, `a blob claims more than ${blobBytesMax(type)} bytes`);
  }
  return blob;
}

/** Writes an index file of at most {@linkcode INDEX_BLOBS_MAX} blobs and one pack more. */
export function saveIndexFile(
  files: RepositoryFiles,
  packs: readonly PackBlobs[],
  supersedes: readonly Id[],
  signal: AbortSignal,
): Promise<Id> {
  const json = JSON.stringify({
    supersedes: supersedes.length === 0 ? undefined : supersedes,
    packs: packs.map(({ id, blobs }) => ({
      id,
      blobs: blobs.map((blob) => ({
        id: blob.id,
        type: blob.type,
        offset: blob.offset,
        length: blob.length,
        uncompressed_length: blob.uncompressedLength,
      })),
    })),
  });
  return saveJson(files, "index", json, signal);
}
