/**
 * Index of all blobs in memory, from all index files. A million blobs, which is about a terabyte of
 * large files, take 60 MB: columns of numbers instead of objects.
 *
 * A blob can be in several packs. Entries are only added; a pack that is found to be missing is
 * hidden with its entries.
 *
 * @module
 */

import type { BlobType, PackedBlob } from "./blob.ts";
import type { Id } from "./id.ts";
import { headerEntryBytes, PACK_OVERHEAD } from "./pack.ts";

const FIRST_CAPACITY = 1024;

/** Stands for "not compressed" in the column of plain lengths. */
const NOT_COMPRESSED = 0xffffffff;

/** Blob with the pack that it is in. */
export interface LocatedBlob extends PackedBlob {
  pack: Id;
  /** Number of the entry, from 0 in the order of addition. */
  entry: number;
}

/** Pack as the index knows it. */
export interface IndexedPack {
  id: Id;
  /** Bytes of the file, which follow from its blobs. */
  size: number;
}

export type MasterIndex = ReturnType<typeof createMasterIndex>;

export function createMasterIndex() {
  let capacity = FIRST_CAPACITY;
  let count = 0;
  let ids = new Uint32Array(capacity * 8);
  let packs = new Uint32Array(capacity);
  let offsets = new Uint32Array(capacity);
  let lengths = new Uint32Array(capacity);
  let plainLengths = new Uint32Array(capacity);
  let isTree = new Uint8Array(capacity);
  // Open addressing: number of the newest entry of a blob + 1, at twice the capacity.
  let slots = new Uint32Array(capacity * 2);
  // The next older entry of the same blob + 1.
  let older = new Uint32Array(capacity);

  const packIds: Id[] = [];
  const packSizes: number[] = [];
  const packNumbers = new Map<Id, number>();
  /** Number of a pack's first entry, and of the one after those that were added with it. */
  const packEntries: [number, number][] = [];
  /** Entries by offset, of packs that were added again. */
  const entriesAt = new Map<number, Map<number, number>>();
  const hidden = new Set<number>();
  const key = new Uint32Array(8);
  const hash = createHash();

  const readKey = (id: Id) => {
    for (let word = 0; word < 8; word++) {
      key[word] = Number.parseInt(id.slice(word * 8, word * 8 + 8), 16);
    }
  };
  const isBlob = (entry: number, tree: number) => {
    if (isTree[entry] !== tree) return false;
    for (let word = 0; word < 8; word++) if (ids[entry * 8 + word] !== key[word]) return false;
    return true;
  };
  /** The slot of the blob whose id is in `key`: that of its newest entry, or an empty one. */
  const slotOf = (tree: number) => {
    const mask = slots.length - 1;
    let slot = hash(key) & mask;
    while (slots[slot] !== 0 && !isBlob(slots[slot]! - 1, tree)) slot = (slot + 1) & mask;
    return slot;
  };
  const insertSlot = (entry: number) => {
    key.set(ids.subarray(entry * 8, entry * 8 + 8));
    const slot = slotOf(isTree[entry]!);
    older[entry] = slots[slot]!;
    slots[slot] = entry + 1;
  };
  const grow = () => {
    capacity *= 2;
    ids = enlarged(ids, capacity * 8);
    packs = enlarged(packs, capacity);
    offsets = enlarged(offsets, capacity);
    lengths = enlarged(lengths, capacity);
    plainLengths = enlarged(plainLengths, capacity);
    older = enlarged(older, capacity);
    const trees = new Uint8Array(capacity);
    trees.set(isTree);
    isTree = trees;
    slots = new Uint32Array(capacity * 2);
    for (let entry = 0; entry < count; entry++) insertSlot(entry);
  };

  const describe = (entry: number): LocatedBlob => ({
    id: idAt(ids, entry),
    type: isTree[entry] === 1 ? "tree" : "data",
    offset: offsets[entry]!,
    length: lengths[entry]!,
    uncompressedLength: plainLengths[entry] === NOT_COMPRESSED ? undefined : plainLengths[entry]!,
    pack: packIds[packs[entry]!]!,
    entry,
  });

  function* find(type: BlobType, id: Id): Generator<LocatedBlob> {
    readKey(id);
    const newest = slots[slotOf(type === "tree" ? 1 : 0)]!;
    for (let next = newest; next !== 0; next = older[next - 1]!) {
      if (!hidden.has(packs[next - 1]!)) yield describe(next - 1);
    }
  }

  const add = (pack: number, { id, type, offset, length, uncompressedLength }: PackedBlob) => {
    if (count === capacity) grow();
    readKey(id);
    ids.set(key, count * 8);
    packs[count] = pack;
    offsets[count] = offset;
    lengths[count] = length;
    plainLengths[count] = uncompressedLength ?? NOT_COMPRESSED;
    isTree[count] = type === "tree" ? 1 : 0;
    packSizes[pack] = packSizes[pack]! + length + headerEntryBytes({ uncompressedLength });
    insertSlot(count);
    count += 1;
  };

  const addAgain = (pack: number, blobs: Iterable<PackedBlob>) => {
    const known = entriesAt.get(pack) ?? new Map<number, number>();
    if (!entriesAt.has(pack)) {
      entriesAt.set(pack, known);
      const [first, end] = packEntries[pack]!;
      for (let entry = first; entry < end; entry++) known.set(offsets[entry]!, entry);
    }
    for (const blob of blobs) {
      readKey(blob.id);
      const entry = known.get(blob.offset);
      if (entry !== undefined && isBlob(entry, blob.type === "tree" ? 1 : 0)) continue;
      known.set(blob.offset, count);
      add(pack, blob);
    }
  };

  return {
    /** Adds blobs of a pack. Those that are known to be there already are left out. */
    addPack(id: Id, blobs: Iterable<PackedBlob>): void {
      const known = packNumbers.get(id);
      if (known !== undefined) return addAgain(known, blobs);
      const number = packIds.length;
      packNumbers.set(id, number);
      packIds.push(id);
      packSizes.push(PACK_OVERHEAD);
      const first = count;
      for (const blob of blobs) add(number, blob);
      packEntries.push([first, count]);
    },
    /** Places of a blob, in no certain order. */
    find,
    has: (type: BlobType, id: Id): boolean => !find(type, id).next().done,
    /** Hides a pack that is missing at the target or has another size. */
    hidePack(id: Id): void {
      const number = packNumbers.get(id);
      if (number !== undefined) hidden.add(number);
    },
    hasPack: (id: Id): boolean => packNumbers.has(id),
    /** Packs that are not hidden. */
    *packs(): Generator<IndexedPack> {
      for (const [number, id] of packIds.entries()) {
        if (!hidden.has(number)) yield { id, size: packSizes[number]! };
      }
    },
    /** All packs that are not hidden, with their blobs in the order of the pack. */
    *blobsByPack(): Generator<{ pack: IndexedPack; blobs: LocatedBlob[] }> {
      const order = orderByPack(packs.subarray(0, count), packIds.length);
      for (let start = 0; start < count;) {
        const number = packs[order[start]!]!;
        let end = start;
        while (end < count && packs[order[end]!] === number) end += 1;
        if (!hidden.has(number)) {
          const blobs = Array.from(order.subarray(start, end), describe);
          blobs.sort((a, b) => a.offset - b.offset);
          yield { pack: { id: packIds[number]!, size: packSizes[number]! }, blobs };
        }
        start = end;
      }
    },
    /** Number of entries. */
    get count(): number {
      return count;
    },
  };
}

/** Largest prime of which a sum of 16 products with half words is exact (2^31 - 1). */
const PRIME = 0x7fffffff;

/**
 * Creates a function that hashes the eight words of an id with random factors. The ids of an index
 * may have been chosen by an attacker, e.g. with the same first words.
 */
function createHash(): (key: Uint32Array) => number {
  const factors = crypto.getRandomValues(new Uint32Array(16)).map((factor) => factor % PRIME);
  return (key) => {
    let sum = 0;
    for (let word = 0; word < 8; word++) {
      sum += factors[word * 2]! * (key[word]! >>> 16) +
        factors[word * 2 + 1]! * (key[word]! & 0xffff);
    }
    return sum % PRIME;
  };
}

/** Numbers of entries by pack, in one pass (counting sort). */
function orderByPack(packs: Uint32Array, packCount: number): Uint32Array {
  const starts = new Uint32Array(packCount + 1);
  for (const pack of packs) starts[pack + 1]! += 1;
  for (let pack = 0; pack < packCount; pack++) starts[pack + 1]! += starts[pack]!;
  const order = new Uint32Array(packs.length);
  for (const [entry, pack] of packs.entries()) order[starts[pack]!++] = entry;
  return order;
}

function enlarged(column: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(length);
  result.set(column);
  return result;
}

function idAt(ids: Uint32Array, entry: number): Id {
  let id = "";
  for (let word = 0; word < 8; word++) {
    id += ids[entry * 8 + word]!.toString(16).padStart(8, "0");
  }
  return id;
}
