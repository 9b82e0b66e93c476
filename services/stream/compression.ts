/**
 * Compression of a stream with gzip (RFC 1952). A block that ends at a byte and refers to no other can
 * follow any other, so that each chunk is compressed once for all clients. Only the checksum at the end
 * is that of a client.
 *
 * @module
 */

import { nodeZlib } from "../builtins.ts";
import { join, type StreamChunk } from "./chunks.ts";

const HEADER: StreamChunk = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/** An empty last block (RFC 1951). */
const LAST_BLOCK = Uint8Array.of(3, 0);

/** Chunks up to this many bytes, such as ids, are not compressed. */
const STORED_MAX = 64;

/** Chunks change every few seconds. */
const LEVEL = 1;

const blocks = new WeakMap<StreamChunk, StreamChunk>();

export type Compression = ReturnType<typeof createCompression>;

/** Compresses the stream of one client. */
export function createCompression() {
  let checksum = 0;
  let length = 0;

  return {
    header: HEADER,

    compress(chunks: readonly StreamChunk[]): StreamChunk[] {
      const { crc32 } = nodeZlib();
      return chunks.map((chunk) => {
        checksum = crc32(chunk, checksum);
        length += chunk.length;
        return blockOf(chunk);
      });
    },

    /** The end of a stream of which everything else was sent. */
    end(): StreamChunk {
      const trailer = new DataView(new ArrayBuffer(8));
      trailer.setUint32(0, checksum, true);
      trailer.setUint32(4, length, true);
      return join([LAST_BLOCK, new Uint8Array(trailer.buffer)]);
    },
  };
}

function blockOf(chunk: StreamChunk): StreamChunk {
  const known = blocks.get(chunk);
  if (known) return known;
  const block = chunk.length <= STORED_MAX ? storedBlock(chunk) : compressedBlocks(chunk);
  blocks.set(chunk, block);
  return block;
}

function compressedBlocks(chunk: StreamChunk): StreamChunk {
  const { constants, deflateRawSync } = nodeZlib();
  return new Uint8Array(
    deflateRawSync(chunk, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH }),
  );
}

/** A block with its length, and the complement of that. */
const storedBlock = (chunk: StreamChunk): StreamChunk =>
  join([Uint8Array.of(0, chunk.length, 0, 255 - chunk.length, 255), chunk]);
