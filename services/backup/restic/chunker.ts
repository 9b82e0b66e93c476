/**
 * Content-defined chunks (design document, "Backups and Deduplication"): a file is cut where the
 * lowest 20 bits of the Rabin fingerprint of the last 64 bytes are zero, so that an insertion only
 * changes the chunks around it. Chunks have 512 KiB to 8 MiB, and 1 MiB more than the minimum on
 * average.
 *
 * The fingerprint has 53 bits. It is kept in two numbers of 32 bits, because larger integers are
 * slow in JavaScript.
 *
 * @module
 */

import { DEGREE, degreeOf, remainder } from "./polynomial.ts";

const WINDOW_BYTES = 64;
export const CHUNK_BYTES_MIN = 512 * 1024;
export const CHUNK_BYTES_MAX = 8 * 1024 * 1024;
const SPLIT_MASK = 0xfffff;

/** Tables of a polynomial, by the value of a byte; each value in two halves. */
interface Tables {
  /** Fingerprint of the byte followed by 64 zeros: removes the byte that leaves the window. */
  outHigh: Int32Array;
  outLow: Int32Array;
  /** Reduces a fingerprint whose bits from 53 to 60 are the byte. */
  modHigh: Int32Array;
  modLow: Int32Array;
}

/** Cuts files into chunks; for one file at a time. */
export type Chunker = ReturnType<typeof createChunker>;

/** @param polynomial Irreducible, of degree 53. */
export function createChunker(polynomial: bigint) {
  const tables = createTables(polynomial);
  // The current chunk. It is kept between files, which makes it the only large buffer.
  const buffer = new Uint8Array(CHUNK_BYTES_MAX);
  let length = 0;
  // Bytes of the current chunk that were searched, and the fingerprint of the last 64 of them.
  let searched = 0;
  let high = 0;
  let low = 0;

  const start = () => {
    length = 0;
    searched = CHUNK_BYTES_MIN - WINDOW_BYTES;
    high = 0;
    low = 0;
  };

  /** Searches up to `length`. @returns Length of the chunk if it ends there. */
  const findCut = (): number | undefined => {
    const { outHigh, outLow, modHigh, modLow } = tables;
    // A fingerprint starts 64 bytes before the first possible cut; until then nothing leaves.
    for (; searched < length && searched < CHUNK_BYTES_MIN; searched++) {
      const index = high >>> 13;
      high = ((high << 8) | (low >>> 24)) ^ modHigh[index]!;
      low = ((low << 8) | buffer[searched]!) ^ modLow[index]!;
    }
    if (searched < CHUNK_BYTES_MIN) return undefined;
    if (searched === CHUNK_BYTES_MIN && (low & SPLIT_MASK) === 0) return searched;
    let h = high;
    let l = low;
    for (let position = searched; position < length; position++) {
      const out = buffer[position - WINDOW_BYTES]!;
      const index = h >>> 13;
      h = ((h << 8) | (l >>> 24)) ^ modHigh[index]! ^ outHigh[out]!;
      l = ((l << 8) | buffer[position]!) ^ modLow[index]! ^ outLow[out]!;
      if ((l & SPLIT_MASK) === 0) return position + 1;
    }
    high = h;
    low = l;
    searched = length;
    return length === CHUNK_BYTES_MAX ? length : undefined;
  };

  start();
  return {
    /** Adds bytes of the file. @returns The chunks that are complete; they are the caller's. */
    *push(bytes: Uint8Array): Generator<Uint8Array> {
      for (let offset = 0; offset < bytes.length;) {
        const added = Math.min(bytes.length - offset, CHUNK_BYTES_MAX - length);
        const before = length;
        buffer.set(bytes.subarray(offset, offset + added), length);
        length += added;
        const cut = findCut();
        offset += cut === undefined ? added : cut - before;
        if (cut === undefined) continue;
        const chunk = buffer.slice(0, cut);
        start();
        yield chunk;
      }
    },
    /** Ends the file. @returns The last chunk, unless the file ended with the one before. */
    finish(): Uint8Array | undefined {
      const chunk = length === 0 ? undefined : buffer.slice(0, length);
      start();
      return chunk;
    },
  };
}

function createTables(polynomial: bigint): Tables {
  if (degreeOf(polynomial) !== DEGREE) throw new RangeError("The polynomial's degree is not 53");
  const tables = {
    outHigh: new Int32Array(256),
    outLow: new Int32Array(256),
    modHigh: new Int32Array(256),
    modLow: new Int32Array(256),
  };
  for (let byte = 0; byte < 256; byte++) {
    const out = remainder(BigInt(byte) << BigInt(8 * WINDOW_BYTES), polynomial);
    const shifted = BigInt(byte) << BigInt(DEGREE);
    const mod = remainder(shifted, polynomial) | shifted;
    tables.outHigh[byte] = Number(BigInt.asIntN(32, out >> 32n));
    tables.outLow[byte] = Number(BigInt.asIntN(32, out));
    tables.modHigh[byte] = Number(BigInt.asIntN(32, mod >> 32n));
    tables.modLow[byte] = Number(BigInt.asIntN(32, mod));
  }
  return tables;
}
