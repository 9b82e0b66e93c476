/**
 * Prune: removes blobs that no snapshot needs (design document, "Read and Write Ordering"). Packs
 * without a used blob are removed; of those with many unused ones, the used ones are copied to new
 * packs first. The order keeps the repository valid at any time: new packs, new index files, then the
 * old index files go, and at last the packs.
 *
 * @module
 */

import { decodeBlob, encodeBlob } from "./blob.ts";
import { isLoss, loadBlob } from "./blob_reader.ts";
import { type Id, short } from "./id.ts";
import { loadIndexFiles, type PackBlobs, saveIndexFile } from "./index_file.ts";
import { compareWithPacks } from "./loaded_index.ts";
import { createMasterIndex, type LocatedBlob, type MasterIndex } from "./master_index.ts";
import { assertStored, createPackWriter, groupPacks } from "./pack_writer.ts";
import { damaged } from "./repository_error.ts";
import type { RepositoryFiles } from "./repository_files.ts";
import { loadSnapshots } from "./snapshot.ts";
import { createTreeReader } from "./tree_reader.ts";
import { findUsedBlobs } from "./used_blobs.ts";

/** Unused part of the repository that may stay, in percent; restic's default. */
const UNUSED_PERCENT = 5;

/** Scope of a prune. */
export interface PruneOptions {
  /** Unused part of the repository that may stay, in percent. 0 removes all. */
  maxUnusedPercent?: number;
  /** Plans only. */
  isDryRun?: boolean;
}

/** Numbers of a prune, done or planned. */
export interface PruneResult {
  packsKept: number;
  packsRepacked: number;
  packsRemoved: number;
  /** Packs that no index file listed, e.g. of an interrupted backup. */
  orphansRemoved: number;
  /** Bytes of blobs that are used. */
  bytesUsed: number;
  /** Bytes of unused blobs that are removed, and that stay. */
  bytesFreed: number;
  bytesUnused: number;
}

interface PackUse {
  id: Id;
  isTree: boolean;
  usedBytes: number;
  unusedBytes: number;
}

interface Plan {
  kept: PackUse[];
  repacked: PackUse[];
  removed: PackUse[];
}

/**
 * Removes unused blobs. The caller holds an exclusive lock.
 *
 * @throws {RepositoryError} `damaged` if a snapshot is not complete; nothing is removed then.
 */
export async function prune(
  files: RepositoryFiles,
  { maxUnusedPercent = UNUSED_PERCENT, isDryRun = false }: PruneOptions,
  now: () => Date,
  signal: AbortSignal,
): Promise<PruneResult> {
  const snapshots = await loadSnapshots(files, signal);
  const index = createMasterIndex();
  const indexNames = await loadIndexFiles(files, index, signal);
  const { missing, orphans } = await compareWithPacks(files, index, signal);
  const trees = createTreeReader(files, index, signal);
  const used = await findUsedBlobs(trees, index, snapshots.map(({ tree }) => tree), (problem) => {
    throw problem;
  });

  const plan = planPacks(measurePacks(index, used), maxUnusedPercent);
  const result = {
    packsKept: plan.kept.length,
    packsRepacked: plan.repacked.length,
    packsRemoved: plan.removed.length,
    orphansRemoved: orphans.length,
    bytesUsed: sumOf([...plan.kept, ...plan.repacked], "usedBytes"),
    bytesFreed: sumOf([...plan.repacked, ...plan.removed], "unusedBytes"),
    bytesUnused: sumOf(plan.kept, "unusedBytes"),
  };
  if (isDryRun) return result;

  const gone = new Set([...plan.repacked, ...plan.removed].map(({ id }) => id));
  if (gone.size > 0 || missing.length > 0) {
    const repacked = new Set(plan.repacked.map(({ id }) => id));
    const added = await repack(files, index, used, repacked, now, signal);
    await replaceIndex(files, index, gone, added, indexNames, signal);
  }
  // From here on, no index has the packs.
  for (const id of [...gone, ...orphans.map(({ name }) => name)]) {
    await files.storage.remove("data", id, signal);
  }
  return result;
}

const sumOf = (packs: PackUse[], field: "usedBytes" | "unusedBytes") =>
  packs.reduce((sum, pack) => sum + pack[field], 0);

function* measurePacks(index: MasterIndex, used: Uint8Array): Generator<PackUse> {
  for (const { pack, blobs } of index.blobsByPack()) {
    const bytes = (isUsed: boolean) =>
      blobs.reduce(
        (sum, { entry, length }) => (used[entry] === 1) === isUsed ? sum + length : sum,
        0,
      );
    const isTree = blobs.some(({ type }) => type === "tree");
    yield { id: pack.id, isTree, usedBytes: bytes(true), unusedBytes: bytes(false) };
  }
}

/** Repacks trees first, whose packs are small, then those with the largest unused part. */
function planPacks(packs: Iterable<PackUse>, maxUnusedPercent: number): Plan {
  const plan: Plan = { kept: [], repacked: [], removed: [] };
  const partlyUsed: PackUse[] = [];
  for (const pack of packs) {
    if (pack.usedBytes === 0) plan.removed.push(pack);
    else if (pack.unusedBytes === 0) plan.kept.push(pack);
    else partlyUsed.push(pack);
  }
  const unusedPart = ({ usedBytes, unusedBytes }: PackUse) =>
    unusedBytes / (usedBytes + unusedBytes);
  partlyUsed.sort((a, b) => Number(b.isTree) - Number(a.isTree) || unusedPart(b) - unusedPart(a));
  const usedBytes = sumOf([...plan.kept, ...partlyUsed], "usedBytes");
  const percent = Math.min(99, Math.max(0, maxUnusedPercent));
  const unusedMax = usedBytes * percent / (100 - percent);
  let unused = sumOf(partlyUsed, "unusedBytes");
  for (const pack of partlyUsed) {
    const repacks = unused > unusedMax;
    if (repacks) unused -= pack.unusedBytes;
    (repacks ? plan.repacked : plan.kept).push(pack);
  }
  return plan;
}

/** Copies the used blobs of packs to new ones. @returns The new packs. */
async function repack(
  files: RepositoryFiles,
  index: MasterIndex,
  used: Uint8Array,
  repacked: ReadonlySet<Id>,
  now: () => Date,
  signal: AbortSignal,
): Promise<PackBlobs[]> {
  const added = createMasterIndex();
  const writer = createPackWriter(files, added, { signal, now: () => now().getTime() });
  try {
    for (const { pack, blobs } of index.blobsByPack()) {
      if (!repacked.has(pack.id)) continue;
      for (const blob of blobs) {
        if (used[blob.entry] !== 1) continue;
        const { encoded, uncompressedLength } = await readBlob(files, index, blob, signal);
        await writer.copy({ ...blob, uncompressedLength }, encoded);
      }
    }
    await writer.flush({ writesIndex: false });
    await assertStored(files, writer.written, signal);
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  return Array.from(added.blobsByPack(), ({ pack, blobs }) => ({ id: pack.id, blobs }));
}

/** Encrypted bytes of a blob, which are verified; from another pack, if this one is damaged. */
async function readBlob(
  files: RepositoryFiles,
  index: MasterIndex,
  blob: LocatedBlob,
  signal: AbortSignal,
): Promise<{ encoded: Uint8Array; uncompressedLength: number | undefined }> {
  const { id, type, pack, offset, length, uncompressedLength } = blob;
  try {
    const encoded = await files.storage.read("data", pack, signal, { offset, length });
    await decodeBlob(files, blob, encoded);
    return { encoded, uncompressedLength };
  } catch (error) {
    if (!isLoss(error)) throw error;
    const [, other] = index.find(type, id);
    if (other === undefined) {
      throw damaged(`Pack ${short(pack)}`, `blob ${short(id)} cannot be read`, error);
    }
    const { sealed, ...encoded } = await encodeBlob(
      files,
      type,
      await loadBlob(files, index, type, id, signal),
    );
    return { encoded: sealed, ...encoded };
  }
}

/** Writes index files without the packs that are gone, then removes the old ones. */
async function replaceIndex(
  files: RepositoryFiles,
  index: MasterIndex,
  gone: ReadonlySet<Id>,
  added: readonly PackBlobs[],
  oldNames: readonly Id[],
  signal: AbortSignal,
): Promise<void> {
  function* packs(): Generator<PackBlobs> {
    for (const { pack, blobs } of index.blobsByPack()) {
      if (!gone.has(pack.id)) yield { id: pack.id, blobs };
    }
    yield* added;
  }
  const newNames = new Set<Id>();
  for (const group of groupPacks(packs())) {
    newNames.add(await saveIndexFile(files, group, oldNames, signal));
  }
  for (const name of oldNames) {
    if (!newNames.has(name)) await files.storage.remove("index", name, signal);
  }
}
