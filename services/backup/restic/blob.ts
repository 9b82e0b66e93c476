/**
 * Blobs: pieces of files (data) and directories (trees), encrypted each by itself, and in version 2
 * compressed by zstd before (design document, "Pack Format"). A blob's ID is the hash of its plain
 * content.
 *
 * @module
 */

import { free, freeBuffer } from "./buffers.ts";
import { compress, decompress } from "./compression.ts";
import { CRYPTO_OVERHEAD, seal, unseal } from "./crypto.ts";
import { type Id, idOf, short } from "./id.ts";
import { DATA_BYTES_MAX, TREE_BYTES_MAX } from "./limits.ts";
import { damaged } from "./repository_error.ts";
import type { RepositoryFiles } from "./repository_files.ts";

export type BlobType = "data" | "tree";

/** Blob as a pack's header and the index describe it. */
export interface PackedBlob {
  id: Id;
  type: BlobType;
  /** Bytes from the beginning of the pack. */
  offset: number;
  /** Encrypted bytes. */
  length: number;
  /** Bytes of the plain content of a compressed blob; otherwise `undefined`. */
  uncompressedLength: number | undefined;
}

/** Limit of the plain bytes of a blob. */
export const blobBytesMax = (type: BlobType) => type === "tree" ? TREE_BYTES_MAX : DATA_BYTES_MAX;

/** Plain bytes of a blob. */
export const plainLength = (
  { length, uncompressedLength }: Pick<PackedBlob, "length" | "uncompressedLength">,
) => uncompressedLength ?? length - CRYPTO_OVERHEAD;

/** Compresses and encrypts, and frees `plain`. Data that does not get smaller stays as it is. */
export async function encodeBlob(
  { keys, version }: RepositoryFiles,
  type: BlobType,
  plain: Uint8Array,
): Promise<{ sealed: Uint8Array; uncompressedLength: number | undefined }> {
  const compressed = version >= 2 ? compress(plain) : plain;
  // restic's prune rewrites trees that are not compressed.
  const isCompressed = version >= 2 && (type === "tree" || compressed.length < plain.length);
  const sealed = await seal(keys, isCompressed ? compressed : plain);
  const uncompressedLength = isCompressed ? plain.length : undefined;
  if (compressed !== plain) freeBuffer(compressed);
  free(plain);
  return { sealed, uncompressedLength };
}

/**
 * Verifies, decrypts and decompresses.
 *
 * @throws {RepositoryError} `damaged`
 */
export async function decodeBlob(
  { keys }: RepositoryFiles,
  { id, type, length, uncompressedLength }: PackedBlob,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const title = `Blob ${short(id)}`;
  if (plainLength({ length, uncompressedLength }) > blobBytesMax(type)) {
    throw damaged(title, `it claims more than ${blobBytesMax(type)} bytes`);
  }
  const stored = await unseal(keys, sealed, title);
  const plain = uncompressedLength === undefined
    ? stored
    : decompress(stored, uncompressedLength, title);
  if (plain !== stored) free(stored);
  if (idOf(plain) !== id) throw damaged(title, "its hash is not its ID");
  return plain;
}
