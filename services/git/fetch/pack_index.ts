/**
 * The index of a pack (version 2), as the Git library reads it.
 *
 * @see https://git-scm.com/docs/pack-format
 * @module
 */

import { ID_BYTES, type Indexed, sha1, splitTrailer } from "./pack.ts";

/** Number of objects whose id begins with at most a byte, for each byte. */
const FANOUT = 256;

export function indexOf(pack: Uint8Array, objects: readonly Indexed[]): Uint8Array {
  const sorted = objects.toSorted((a, b) => a.id < b.id ? -1 : 1);
  const count = sorted.length;
  const ids = 8 + 4 * FANOUT;
  const crcs = ids + ID_BYTES * count;
  const starts = crcs + 4 * count;
  const trailers = starts + 4 * count;
  const bytes = new Uint8Array(trailers + 2 * ID_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set([0xff, ...new TextEncoder().encode("tOc"), 0, 0, 0, 2]);
  for (const [at, { id, crc, start }] of sorted.entries()) {
    const first = 8 + 4 * Number.parseInt(id.slice(0, 2), 16);
    view.setUint32(first, at + 1);
    bytes.subarray(ids + ID_BYTES * at).setFromHex(id);
    view.setUint32(crcs + 4 * at, crc);
    view.setUint32(starts + 4 * at, start);
  }
  for (let byte = 1; byte < FANOUT; byte++) {
    const at = 8 + 4 * byte;
    if (view.getUint32(at) === 0) view.setUint32(at, view.getUint32(at - 4));
  }
  bytes.set(splitTrailer(pack).trailer, trailers);
  bytes.set(Uint8Array.fromHex(sha1(bytes.subarray(0, -ID_BYTES))), trailers + ID_BYTES);
  return bytes;
}
