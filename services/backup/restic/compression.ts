/**
 * Compression of blobs and JSON files by zstd. The runtime does it in the calling thread, also by its
 * asynchronous functions.
 *
 * @module
 */

import type { ZstdOptions } from "node:zlib";
import { nodeZlib } from "../../builtins.ts";
import { damaged } from "./repository_error.ts";

/** Output of a decompression that is allocated at a time, because `lengthMax` may be far too large. */
const PIECE_BYTES_MAX = 1024 * 1024;

/**
 * Compresses by zstd at its default level, which is restic's `auto`, too.
 *
 * @returns A view; a large one is alone in its buffer.
 */
export function compress(bytes: Uint8Array): Uint8Array {
  const options: ZstdOptions & { pledgedSrcSize: number } = {
    // Tables for this size: to clear those for any size takes longer than to compress a small file.
    pledgedSrcSize: bytes.length,
    chunkSize: compressedBytesMax(bytes.length),
  };
  return nodeZlib().zstdCompressSync(bytes, options);
}

/** Room for bytes that cannot be compressed, so that the output is in one piece (`ZSTD_compressBound`). */
const compressedBytesMax = (length: number) => length + (length >> 8) + 1024;

/**
 * @param lengthMax More bytes are refused before they are allocated.
 * @param object Names the object in the message.
 * @throws {RepositoryError} `damaged`
 */
export function decompress(bytes: Uint8Array, lengthMax: number, object: string): Uint8Array {
  try {
    return nodeZlib().zstdDecompressSync(bytes, {
      chunkSize: Math.min(PIECE_BYTES_MAX, Math.max(1024, lengthMax + 512)),
      maxOutputLength: Math.max(1, lengthMax),
    });
  } catch (error) {
    throw damaged(object, "it cannot be decompressed", error);
  }
}
