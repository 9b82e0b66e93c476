/**
 * Check of a repository: every snapshot is complete, every pack of the index is there, and, if asked
 * for, the content of packs is what it was.
 *
 * @module
 */

import { decodeBlob } from "./blob.ts";
import { type Id, idOf } from "./id.ts";
import { loadIndexFile } from "./index_file.ts";
import { compareWithPacks } from "./loaded_index.ts";
import { createMasterIndex, type LocatedBlob } from "./master_index.ts";
import { parsePack } from "./pack.ts";
import { damaged, RepositoryError } from "./repository_error.ts";
import { listFiles, type RepositoryFiles, titleOf } from "./repository_files.ts";
import { loadSnapshot } from "./snapshot.ts";
import { StorageError } from "./storage.ts";
import { createTreeReader } from "./tree_reader.ts";
import { findUsedBlobs } from "./used_blobs.ts";

/** Problems that are described; the others are counted. */
const PROBLEMS_MAX = 100;

/** Scope of a check. */
export interface CheckOptions {
  /**
   * Reads the packs of one of `of` equal parts, from 1, as restic's `--read-data-subset=n/t`; all with
   * `{ part: 1, of: 1 }`.
   */
  readData?: { part: number; of: number };
  /** Called after each pack that was read. */
  onProgress?: (packsRead: number, packsToRead: number) => void;
}

/** Result of a check. */
export interface CheckResult {
  /** Descriptions of up to 100 problems. */
  problems: string[];
  problemCount: number;
  snapshots: number;
  packs: number;
  packsRead: number;
  /** Packs that no index file lists. They take room only. */
  orphans: number;
}

/** Checks the repository. Problems are part of the result. */
export async function check(
  files: RepositoryFiles,
  { readData, onProgress = () => {} }: CheckOptions,
  signal: AbortSignal,
): Promise<CheckResult> {
  const problems: string[] = [];
  let problemCount = 0;
  const report = (problem: unknown) => {
    if (!(problem instanceof RepositoryError || problem instanceof StorageError)) throw problem;
    problemCount += 1;
    if (problems.length < PROBLEMS_MAX) problems.push(problem.message);
  };
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    signal.throwIfAborted();
    return await work().catch((problem) => {
      report(problem);
      return undefined;
    });
  };

  // Snapshots come first: what is written meanwhile has all that an older index lacks.
  const roots: Id[] = [];
  for await (const { name } of listFiles(files.storage, "snapshots", signal)) {
    const snapshot = await attempt(() => loadSnapshot(files, name, signal));
    if (snapshot !== undefined) roots.push(snapshot.tree);
  }
  const index = createMasterIndex();
  for await (const { name } of listFiles(files.storage, "index", signal)) {
    await attempt(() => loadIndexFile(files, index, name, signal));
  }
  const { missing, orphans } = await compareWithPacks(files, index, signal);
  for (const id of missing) {
    report(damaged(titleOf("data", id), "it is missing or has another size than in the index"));
  }
  await findUsedBlobs(createTreeReader(files, index, signal), index, roots, report);

  const packs = Array.from(index.packs());
  const read = new Set(packs.map(({ id }) => id).filter((id) => isInPart(id, readData)));
  let packsRead = 0;
  for (const { pack, blobs } of index.blobsByPack()) {
    if (!read.has(pack.id)) continue;
    await attempt(() => checkPack(files, pack.id, blobs, report, signal));
    onProgress(++packsRead, read.size);
  }
  return {
    problems,
    problemCount,
    snapshots: roots.length,
    packs: packs.length,
    packsRead,
    orphans: orphans.length,
  };
}

/** Parts by the first byte of the ID, as in restic. */
const isInPart = (id: Id, readData: CheckOptions["readData"]) =>
  readData !== undefined && Number.parseInt(id.slice(0, 2), 16) % readData.of === readData.part - 1;

async function checkPack(
  files: RepositoryFiles,
  id: Id,
  indexed: readonly LocatedBlob[],
  report: (problem: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const title = titleOf("data", id);
  const pack = await files.storage.read("data", id, signal);
  if (idOf(pack) !== id) throw damaged(title, "its hash is not its name");
  const blobs = await parsePack(files, pack, id);
  const isSame = blobs.length === indexed.length && blobs.every((blob, i) => {
    const { id: blobId, type, offset, length, uncompressedLength } = indexed[i]!;
    return blob.id === blobId && blob.type === type && blob.offset === offset &&
      blob.length === length && blob.uncompressedLength === uncompressedLength;
  });
  if (!isSame) report(damaged(title, "the index lists other blobs than its header"));
  for (const blob of blobs) {
    try {
      await decodeBlob(files, blob, pack.subarray(blob.offset, blob.offset + blob.length));
    } catch (error) {
      report(error);
    }
  }
}
