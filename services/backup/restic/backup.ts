/**
 * Backup: entries become trees and data in packs, then index files, and at last the snapshot (design
 * document, "Read and Write Ordering"). The snapshot is written when everything it needs was found
 * at the target.
 *
 * @module
 */

import { createChunker } from "./chunker.ts";
import type { ByteString, Entries } from "./entry.ts";
import { completeHardLinks } from "./hard_links.ts";
import type { Id } from "./id.ts";
import { compareWithPacks, findWholePacks, loadIndex } from "./loaded_index.ts";
import { assertStored, createPackWriter } from "./pack_writer.ts";
import type { RepositoryFiles } from "./repository_files.ts";
import { loadSnapshot, saveSnapshot, type Snapshot } from "./snapshot.ts";
import { createTreeReader } from "./tree_reader.ts";
import { type BackupCounts, saveEntries } from "./tree_writer.ts";
import { formatTime } from "./time.ts";

/** Description of the snapshot that a backup makes. */
export interface BackupOptions {
  /** Absolute paths that the entries are from, e.g. `/volumes/data` for entries in `volumes/data`. */
  paths: string[];
  tags?: string[];
  hostname: string;
  username: string;
  uid?: number;
  gid?: number;
  programVersion?: string;
  /** Snapshot in which unchanged files are looked for, see `Entry.inode`. */
  parent?: Id;
  /** Called after each entry and each chunk of a file. */
  onProgress?: (counts: BackupCounts, path: ByteString) => void;
}

/** A finished backup. */
export interface BackupResult {
  snapshot: Snapshot;
  counts: BackupCounts;
  /** Bytes that were added to the repository. */
  bytesAdded: number;
}

/** Parts that a backup needs beside the repository. */
export interface BackupParts {
  polynomial: bigint;
  /** Whether no other process may be writing packs. */
  isAlone: boolean;
  now: () => Date;
}

/** Saves entries and a snapshot of them. The caller holds a lock. */
export async function backUp(
  files: RepositoryFiles,
  entries: Entries,
  { parent, onProgress = () => {}, ...options }: BackupOptions,
  { polynomial, isAlone, now }: BackupParts,
  signal: AbortSignal,
): Promise<BackupResult> {
  const time = formatTime(BigInt(now().getTime()) * 1_000_000n);
  const index = await loadIndex(files, signal);
  const { orphans } = await compareWithPacks(files, index, signal);
  const writer = createPackWriter(files, index, { signal, now: () => now().getTime() });
  try {
    // Packs without an index may be those of a process that is still writing.
    if (isAlone) {
      for await (const pack of findWholePacks(files, orphans, signal)) writer.adopt(pack);
    }
    const trees = createTreeReader(files, index, signal);
    const parentTree = parent === undefined
      ? undefined
      : (await loadSnapshot(files, parent, signal)).tree;
    const chunker = createChunker(polynomial);
    const parts = { writer, index, trees, chunker, parentTree, onProgress };
    const saved = await saveEntries(entries, parts);
    let { tree } = saved;
    if (saved.links.size > 0) {
      await writer.flush({ writesIndex: false });
      tree = await completeHardLinks(tree, saved.links, parts);
    }
    await writer.flush();
    await assertStored(files, writer.written, signal);
    const { paths, hostname, username, tags = [], uid = 0, gid = 0, programVersion } = options;
    const snapshot = await saveSnapshot(files, {
      time,
      ...(parent !== undefined && { parent }),
      tree,
      paths,
      hostname,
      username,
      uid,
      gid,
      ...(programVersion !== undefined && { programVersion }),
      tags,
      summary: {
        files: saved.counts.files,
        bytes: saved.counts.bytes,
        bytesAdded: writer.bytesAdded,
      },
    }, signal);
    return { snapshot, counts: saved.counts, bytesAdded: writer.bytesAdded };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
