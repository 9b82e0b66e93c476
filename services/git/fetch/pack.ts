/**
 * Checks and indexes a pack before the Git library reads it. A few bytes can unpack to gigabytes, by
 * compression and by deltas that repeat their base, and a delta can be its own base. The library checks
 * neither, and takes several times the time and memory for the index.
 *
 * @see https://git-scm.com/docs/pack-format
 * @module
 */

import { nodeCrypto, nodeZlib } from "../../builtins.ts";
import { applyDelta, sizesOf } from "./delta.ts";
import { failure } from "./http.ts";

/** Largest object, and all objects of a pack, in bytes. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024;
const OBJECTS_BYTES_MAX = 256 * 1024 * 1024;

/** Largest commit, tree and tag, which the library parses as a whole, in bytes. */
const PARSED_BYTES_MAX = 4 * 1024 * 1024;

/** Limit of objects: entries of trees, and the commits and trees themselves. */
const OBJECTS_MAX = 100_000;

/**
 * Instructions of the deltas that make one object: reading it takes a microsecond for each. A usual delta
 * has some dozens, and Git makes an object of at most 50 deltas.
 */
const INSTRUCTIONS_MAX = 1_000_000;

/** Smallest buffer of zlib. */
const MIN_CHUNK_BYTES = 64;

/** The first bytes, with version 2. */
const START = [...new TextEncoder().encode("PACK"), 0, 0, 0, 2];

const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
export const ID_BYTES = 20;

const TYPES: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const OFS_DELTA = 6;
const REF_DELTA = 7;

/** An object as the library will read it. */
interface PackedObject {
  type: string;
  content: Uint8Array;
  /** Of its delta, and those of its bases. */
  instructions: number;
}

/** An object in a pack, for its index. */
export interface Indexed {
  id: string;
  start: number;
  /** Of the bytes in the pack. */
  crc: number;
}

/** One entry of a pack. */
interface Entry {
  type: number;
  /** Of the object, after deltas. */
  size: number;
  /** Start of the base of an `OFS_DELTA`, or its id for a `REF_DELTA`. */
  base: number | string | undefined;
  /** The object or the delta. */
  bytes: Uint8Array;
  /** Start of the next entry. */
  end: number;
}

/**
 * Bases have to be earlier objects of the pack, so that no delta leads to itself. That also keeps packs
 * apart: nothing asks for thin packs.
 *
 * @param bytesMax Limit of all objects together.
 * @returns The objects in their order.
 * @throws {AppError} `bad_gateway` for a pack beyond the limits, and for one that is damaged.
 */
export function readPack(pack: Uint8Array, bytesMax = OBJECTS_BYTES_MAX): Indexed[] {
  if (pack.length < HEADER_BYTES + TRAILER_BYTES) throw damaged();
  if (START.some((byte, at) => pack[at] !== byte)) throw damaged();
  const count = new DataView(pack.buffer, pack.byteOffset).getUint32(8);
  if (count > OBJECTS_MAX) {
    throw failure(`The repository has more than ${OBJECTS_MAX} objects, which is the limit`);
  }
  // By start, and by id.
  const objects = new Map<number | string, PackedObject>();
  const all: Indexed[] = [];
  let at = HEADER_BYTES;
  let total = 0;
  for (let index = 0; index < count; index++) {
    const entry = readEntry(pack, at);
    total += entry.size;
    if (total > bytesMax) throw tooLarge("The repository unpacks", bytesMax);
    const object = resolve(entry, objects);
    if (object.type !== "blob" && object.content.length > PARSED_BYTES_MAX) {
      throw tooLarge(`A ${object.type} unpacks`, PARSED_BYTES_MAX);
    }
    const id = idOf(object);
    // The library finds a base by its id: the second one could be made of the first one.
    if (objects.has(id)) throw damaged();
    objects.set(id, object).set(at, object);
    all.push({ id, start: at, crc: nodeZlib().crc32(pack.subarray(at, entry.end)) });
    at = entry.end;
  }
  if (at !== pack.length - TRAILER_BYTES) throw damaged();
  const { content, trailer } = splitTrailer(pack);
  if (sha1(content) !== trailer.toHex()) throw damaged();
  return all;
}

/** The pack without its checksum, and the checksum. */
export const splitTrailer = (pack: Uint8Array) => ({
  content: pack.subarray(0, -TRAILER_BYTES),
  trailer: pack.subarray(-TRAILER_BYTES),
});

function readEntry(pack: Uint8Array, start: number): Entry {
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
  let base: Entry["base"];
  if (type === OFS_DELTA) base = start - readDistance(next, start);
  if (type === REF_DELTA) base = pack.subarray(at, at += ID_BYTES).toHex();
  const { bytes, used } = inflate(pack.subarray(at), size);
  const after = base === undefined ? size : sizeAfterDelta(bytes);
  return { type, size: after, base, bytes, end: at + used };
}

/** Seven bits in each byte, the highest first; each further byte begins where shorter numbers end. */
function readDistance(next: () => number, max: number): number {
  let byte = next();
  let distance = byte & 0x7f;
  while (byte & 0x80) {
    byte = next();
    distance = (distance + 1) * 128 + (byte & 0x7f);
    if (distance > max) throw damaged();
  }
  return distance;
}

function resolve(
  { type, base, bytes }: Entry,
  objects: ReadonlyMap<number | string, PackedObject>,
): PackedObject {
  const known = base === undefined ? undefined : objects.get(base);
  if (known) {
    const { content, instructions } = orDamaged(() => applyDelta(known.content, bytes));
    const all = known.instructions + instructions;
    if (all <= INSTRUCTIONS_MAX) return { type: known.type, content, instructions: all };
    throw failure(
      `An object has deltas of more than ${INSTRUCTIONS_MAX} instructions, which is the limit`,
    );
  }
  const name = TYPES[type];
  // Also a delta whose base is not an earlier object.
  if (name === undefined) throw damaged();
  return { type: name, content: bytes, instructions: 0 };
}

const idOf = ({ type, content }: PackedObject): string =>
  sha1(new TextEncoder().encode(`${type} ${content.length}\0`), content);

export function sha1(...parts: Uint8Array[]): string {
  const hash = nodeCrypto().createHash("sha1");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function inflate(packed: Uint8Array, size: number): { bytes: Uint8Array; used: number } {
  try {
    // `info` also returns the engine, which knows how much it has read.
    // One buffer that is not filled: its parts are neither joined, nor is another one added.
    const options = {
      info: true,
      maxOutputLength: Math.max(size, 1),
      chunkSize: size + MIN_CHUNK_BYTES,
    };
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

function sizeAfterDelta(delta: Uint8Array): number {
  const { size } = orDamaged(() => sizesOf(delta));
  if (size > OBJECT_BYTES_MAX) throw tooLarge("An object unpacks", OBJECT_BYTES_MAX);
  return size;
}

function orDamaged<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw damaged(cause);
  }
}

const tooLarge = (what: string, bytes: number) =>
  failure(`${what} to more than ${bytes / 1024 / 1024} MiB, which is the limit`);

const damaged = (cause?: unknown) => failure("The server sent a damaged pack", cause);
