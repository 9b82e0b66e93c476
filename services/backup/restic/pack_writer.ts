/**
 * Writer of blobs: encodes them, collects them in packs of 16 MiB, one for data and one for trees,
 * and writes these and their index files. At most 8 MiB of blobs are being encoded, and two packs are
 * being written.
 *
 * @module
 */

import { type BlobType, encodeBlob, type PackedBlob } from "./blob.ts";
import { type Id, idOf } from "./id.ts";
import { assertBlobsFit, INDEX_BLOBS_MAX, type PackBlobs, saveIndexFile } from "./index_file.ts";
import type { MasterIndex } from "./master_index.ts";
import { encodePack, PACK_BYTES } from "./pack.ts";
import { listFiles, type RepositoryFiles, titleOf, writeVerified } from "./repository_files.ts";
import { StorageError, type StoredFile } from "./storage.ts";
import { createWorkTracker } from "./work_tracker.ts";

/** Plain bytes that are being encoded. */
const ENCODING_BYTES_MAX = 8 * 1024 * 1024;

/** Packs that are being written, while the next ones are collected. */
const UPLOADS_MAX = 2;

/** An index file is written at least this often, so that an interrupted run can be reused. */
const INDEX_INTERVAL_MS = 5 * 60_000;

/** Blobs of a pack: with the largest header entries, they stay below the header's limit. */
const PACK_BLOBS_MAX = 100_000;

/** A pack that is not complete. */
interface OpenPack {
  blobs: PackedBlob[];
  contents: Uint8Array[];
  bytes: number;
}

export type PackWriter = ReturnType<typeof createPackWriter>;

/**
 * @param index Gets each blob when its pack is written and verified.
 * @param now Milliseconds of a clock that never goes back.
 */
export function createPackWriter(
  files: RepositoryFiles,
  index: MasterIndex,
  { signal, now }: { signal: AbortSignal; now: () => number },
) {
  const encoding = createWorkTracker(ENCODING_BYTES_MAX);
  const uploads = createWorkTracker(UPLOADS_MAX);
  const open: Record<BlobType, OpenPack> = { data: emptyPack(), tree: emptyPack() };
  // Blobs on their way, by the type's first letter and the ID.
  const pending = new Set<string>();
  const written: StoredFile[] = [];
  let notIndexed: PackBlobs[] = [];
  let indexing = Promise.resolve();
  let lastIndexAt = now();
  let bytesAdded = 0;

  const writePack = async (type: BlobType) => {
    const { blobs, contents } = open[type];
    open[type] = emptyPack();
    await uploads.start(1, async () => {
      const pack = await encodePack(files, blobs, contents);
      contents.length = 0;
      const id = idOf(pack);
      const size = pack.length;
      await writeVerified(files.storage, "data", id, pack, id, signal);
      written.push({ name: id, size });
      bytesAdded += size;
      assertBlobsFit(index, blobs.length);
      index.addPack(id, blobs);
      for (const blob of blobs) pending.delete(keyOf(type, blob.id));
      notIndexed.push({ id, blobs });
      await writeIndexIfDue();
    });
  };

  const addToPack = async (
    type: BlobType,
    id: Id,
    { sealed, uncompressedLength }: { sealed: Uint8Array; uncompressedLength: number | undefined },
  ) => {
    const pack = open[type];
    const { length } = sealed;
    pack.blobs.push({ id, type, offset: pack.bytes, length, uncompressedLength });
    pack.contents.push(sealed);
    pack.bytes += length;
    if (pack.bytes >= PACK_BYTES || pack.blobs.length >= PACK_BLOBS_MAX) await writePack(type);
  };

  const writeIndexIfDue = (): Promise<void> => {
    const blobCount = notIndexed.reduce((sum, { blobs }) => sum + blobs.length, 0);
    const isDue = now() - lastIndexAt >= INDEX_INTERVAL_MS || blobCount >= INDEX_BLOBS_MAX;
    return isDue ? writeIndex() : Promise.resolve();
  };

  const writeIndex = (): Promise<void> => {
    const packs = notIndexed;
    notIndexed = [];
    lastIndexAt = now();
    if (packs.length > 0) {
      indexing = indexing.then(async () => {
        for (const group of groupPacks(packs)) await saveIndexFile(files, group, [], signal);
      });
    }
    return indexing;
  };

  return {
    /**
     * Saves a blob, unless the repository has it. Returns as soon as there is room for the next one;
     * a failure is thrown by a later call. The bytes are freed.
     */
    async save(type: BlobType, plain: Uint8Array): Promise<Id> {
      signal.throwIfAborted();
      const id = idOf(plain);
      const key = keyOf(type, id);
      if (pending.has(key) || index.has(type, id)) return id;
      pending.add(key);
      await encoding.start(
        plain.length,
        async () => await addToPack(type, id, await encodeBlob(files, type, plain)),
      );
      await writeIndexIfDue();
      return id;
    },
    /** Copies an encrypted blob from another pack, which makes the repository have it twice. */
    async copy({ type, id, uncompressedLength }: PackedBlob, sealed: Uint8Array): Promise<void> {
      signal.throwIfAborted();
      await addToPack(type, id, { sealed, uncompressedLength });
    },
    /** Adds packs that an interrupted run has written to the next index file. */
    adopt(pack: PackBlobs): void {
      index.addPack(pack.id, pack.blobs);
      notIndexed.push(pack);
    },
    /** Writes all that is left, packs and index. */
    async flush({ writesIndex = true } = {}): Promise<void> {
      await encoding.finish();
      for (const type of ["data", "tree"] as const) {
        if (open[type].blobs.length > 0) await writePack(type);
      }
      await uploads.finish();
      await (writesIndex ? writeIndex() : indexing);
    },
    /** Ends after a failure: waits for what is under way, and forgets the rest. */
    async abandon(): Promise<void> {
      await Promise.allSettled([encoding.finish(), uploads.finish(), indexing]);
    },
    /** Packs that were written. */
    written: written as readonly StoredFile[],
    /** Bytes of these. */
    get bytesAdded(): number {
      return bytesAdded;
    },
  };
}

const emptyPack = (): OpenPack => ({ blobs: [], contents: [], bytes: 0 });

const keyOf = (type: BlobType, id: Id) => `${type[0]}${id}`;

/** Splits packs into groups of one index file each. */
export function* groupPacks<Pack extends PackBlobs>(packs: Iterable<Pack>): Generator<Pack[]> {
  let group: Pack[] = [];
  let blobCount = 0;
  for (const pack of packs) {
    group.push(pack);
    blobCount += pack.blobs.length;
    if (blobCount < INDEX_BLOBS_MAX) continue;
    yield group;
    group = [];
    blobCount = 0;
  }
  if (group.length > 0) yield group;
}

/**
 * Looks for written packs in the target's list.
 *
 * @throws {StorageError} `damaged` if the target has lost a pack that it confirmed.
 */
export async function assertStored(
  { storage }: RepositoryFiles,
  written: readonly StoredFile[],
  signal: AbortSignal,
): Promise<void> {
  const sizes = new Map(written.map(({ name, size }) => [name, size]));
  for await (const { name, size } of listFiles(storage, "data", signal)) {
    if (sizes.get(name) === size) sizes.delete(name);
  }
  const [lost] = sizes.keys();
  if (lost === undefined) return;
  throw new StorageError(
    "damaged",
    `${titleOf("data", lost)} was written, but the target does not list it; check the target`,
  );
}
