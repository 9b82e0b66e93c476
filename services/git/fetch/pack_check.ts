/**
 * Checks a pack before the Git library reads it. A few bytes can unpack to gigabytes, by compression and
 * by deltas that repeat their base, and the library has no limits.
 *
 * @see https://git-scm.com/docs/pack-format
 * @module
 */

import { nodeZlib } from "../../builtins.ts";
import { failure } from "./http.ts";

/** Largest object, and all objects of a pack, in bytes. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024;
const OBJECTS_BYTES_MAX = 256 * 1024 * 1024;

/** Limit of objects: entries of trees, and the commits and trees themselves. */
const OBJECTS_MAX = 100_000;

const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
const OFS_DELTA = 6;
const REF_DELTA = 7;

/** @throws {AppError} `bad_gateway` for a pack beyond the limits, and for one that is damaged. */
export function assertPack(pack: Uint8Array<ArrayBuffer>): void {
  if (pack.length < HEADER_BYTES + TRAILER_BYTES) throw damaged();
  const count = new DataView(pack.buffer, pack.byteOffset).getUint32(8);
  if (count > OBJECTS_MAX) {
    throw failure(`The repository has more than ${OBJECTS_MAX} objects, which is the limit`);
  }
  let at = HEADER_BYTES;
  let total = 0;
  for (let object = 0; object < count; object++) {
    const entry = readEntry(pack, at);
    at = entry.end;
    total += entry.size;
    if (total > OBJECTS_BYTES_MAX) throw tooLarge("The repository unpacks", OBJECTS_BYTES_MAX);
  }
  if (at !== pack.length - TRAILER_BYTES) throw damaged();
}

/** @returns The size of the object after deltas, and where the next entry begins. */
function readEntry(pack: Uint8Array<ArrayBuffer>, start: number): { size: number; end: number } {
  let at = start;
  const next = () => {
    if (at >= pack.length - TRAILER_BYTES) throw damaged();
    return pack[at++]!;
  };
  let byte = next();
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let scale = 16; byte & 0x80; scale *= 128) {
    byte = next();
    size += (byte & 0x7f) * scale;
  }
  if (size > OBJECT_BYTES_MAX) throw tooLarge("An object unpacks", OBJECT_BYTES_MAX);
  if (type === OFS_DELTA) { while (next() & 0x80); }
  if (type === REF_DELTA) at += 20;
  const { bytes, used } = inflate(pack.subarray(at), size);
  const isDelta = type === OFS_DELTA || type === REF_DELTA;
  return { size: isDelta ? sizeAfterDelta(bytes) : size, end: at + used };
}

function inflate(packed: Uint8Array, size: number): { bytes: Uint8Array; used: number } {
  try {
    // `info` also returns the engine, which knows how much it has read.
    const options = { info: true, maxOutputLength: Math.max(size, 1) };
    const { buffer, engine } = nodeZlib().inflateSync(packed, options) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    if (buffer.length !== size) throw damaged();
    return { bytes: buffer, used: engine.bytesWritten };
  } catch (cause) {
    throw damaged(cause);
  }
}

/** A delta begins with the sizes of its base and of its result. */
function sizeAfterDelta(delta: Uint8Array): number {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = delta[at++];
      if (byte === undefined || scale > 2 ** 49) throw damaged();
      value += (byte & 0x7f) * scale;
      if (!(byte & 0x80)) return value;
    }
  };
  number();
  const size = number();
  if (size > OBJECT_BYTES_MAX) throw tooLarge("An object unpacks", OBJECT_BYTES_MAX);
  return size;
}

const tooLarge = (what: string, bytes: number) =>
  failure(`${what} to more than ${bytes / 1024 / 1024} MiB, which is the limit`);

const damaged = (cause?: unknown) => failure("The server sent a damaged pack", cause);
