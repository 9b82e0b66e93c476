/** Compression of blobs and JSON files by zstd. @module */

import { nodeUtil, nodeZlib } from "../../builtins.ts";
import { damaged } from "./repository_error.ts";

/** Output that zstd collects before it hands it over; larger makes fewer pieces to join. */
const PIECE_BYTES_MAX = 1024 * 1024;

/** Compresses by zstd at its default level, which is restic's `auto`, too. */
export function compress(bytes: Uint8Array): Promise<Uint8Array> {
  const { zstdCompress } = nodeZlib();
  return nodeUtil().promisify(zstdCompress)(bytes, { chunkSize: pieceBytes(bytes.length) });
}

/**
 * @param lengthMax More bytes are refused before they are allocated.
 * @param object Names the object in the message.
 * @throws {RepositoryError} `damaged`
 */
export async function decompress(
  bytes: Uint8Array,
  lengthMax: number,
  object: string,
): Promise<Uint8Array> {
  const { zstdDecompress } = nodeZlib();
  try {
    return await nodeUtil().promisify(zstdDecompress)(bytes, {
      chunkSize: pieceBytes(lengthMax),
      maxOutputLength: Math.max(1, lengthMax),
    });
  } catch (error) {
    throw damaged(object, "it cannot be decompressed", error);
  }
}

const pieceBytes = (length: number) => Math.min(PIECE_BYTES_MAX, Math.max(1024, length + 512));
