/**
 * A restic repository, format version 1 or 2: see README.md in this folder.
 *
 * @module
 */

import { backUp, type BackupOptions, type BackupResult } from "./backup.ts";
import { check, type CheckOptions, type CheckResult } from "./check.ts";
import { type Config, createConfig, loadConfig } from "./config.ts";
import { type Change, diffTrees } from "./diff.ts";
import type { ByteString, Entries } from "./entry.ts";
import type { Id } from "./id.ts";
import { createIndexCache } from "./index_cache.ts";
import { addKey, type KeyInfo, listKeys, openKeys, randomKeys } from "./key.ts";
import { acquireLock, type LockHolder, type LockWait, removeLocks } from "./lock.ts";
import { prune, type PruneOptions, type PruneResult } from "./prune.ts";
import { RepositoryError } from "./repository_error.ts";
import type { RepositoryFiles } from "./repository_files.ts";
import {
  type FileRange,
  type ListedEntry,
  listEntries,
  readContent,
  readDirectory,
  readEntries,
} from "./restore.ts";
import { findSnapshot, loadSnapshots, type Snapshot } from "./snapshot.ts";
import type { Storage } from "./storage.ts";
import { formatTime } from "./time.ts";
import { createTreeReader } from "./tree_reader.ts";

/** Parts of a repository. */
export interface RepositoryOptions {
  storage: Storage;
  password: string;
  /** The process, for locks. */
  holder: LockHolder;
  now: () => Date;
  /** Keys that the password has opened, by the names of their files. Gets the one that is opened. */
  openedKeys?: Map<Id, Uint8Array>;
  /** Milliseconds between taking a lock and looking for others; as in restic 200. */
  settleMs?: number;
  /** Milliseconds between attempts to get a lock. */
  retryMs?: number;
}

/**
 * An open repository. Methods throw `RepositoryError`, `StorageError`, or the signal's reason when it
 * is aborted. Snapshots are given by their ID or the beginning of it.
 */
export interface Repository {
  readonly id: Id;
  readonly version: number;

  /** Stream with one item, which comes when no prune runs. None can begin until it is closed. */
  locked(options: LockWait, signal: AbortSignal): AsyncGenerator<unknown>;

  /** Saves entries as a snapshot, with a lock that excludes prune. */
  backup(
    entries: Entries,
    options: BackupOptions & LockWait,
    signal: AbortSignal,
  ): Promise<BackupResult>;

  /** All snapshots, the oldest first. */
  snapshots(signal: AbortSignal): Promise<Snapshot[]>;
  snapshot(id: string, signal: AbortSignal): Promise<Snapshot>;

  /**
   * Entries for a restore, with a lock that excludes prune: a directory before its content, a file
   * before its hard links. Of `paths`, only these and what is in them; their parents are left out.
   */
  entries(
    snapshot: string,
    options: { paths?: readonly ByteString[] } & LockWait,
    signal: AbortSignal,
  ): Entries;

  /** Entries for a restore of `paths`, without content. */
  listEntries(snapshot: string, paths: readonly ByteString[], signal: AbortSignal): Entries;

  /** Entries of a directory by name, without content; of the root for `""`. */
  listDirectory(
    snapshot: string,
    path: ByteString,
    signal: AbortSignal,
  ): AsyncIterable<ListedEntry>;

  /**
   * Content of a file, or a part of it, with a lock that excludes prune. Without one, which a target
   * that takes no files needs, a prune at the same time makes it fail.
   */
  readFile(
    snapshot: string,
    path: ByteString,
    options: { range?: FileRange; takesLock?: boolean },
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;

  /** Differences between two snapshots in the order of paths. */
  diff(before: string, after: string, signal: AbortSignal): AsyncIterable<Change>;

  /** Removes snapshots, with an exclusive lock. Their data stay until the next prune. */
  removeSnapshots(ids: readonly Id[], signal: AbortSignal, options?: LockWait): Promise<void>;

  /** Removes data that no snapshot needs, with an exclusive lock. */
  prune(options: PruneOptions & LockWait, signal: AbortSignal): Promise<PruneResult>;

  /** Checks snapshots, index and packs, with a lock that excludes prune. */
  check(options: CheckOptions & LockWait, signal: AbortSignal): Promise<CheckResult>;

  /** Removes stale locks, or all. @returns IDs of the removed ones. */
  unlock(options: { all: boolean }, signal: AbortSignal): Promise<Id[]>;

  keys(signal: AbortSignal): AsyncIterable<KeyInfo>;
  /** Adds another password. @returns ID of its key file. */
  addKey(password: string, signal: AbortSignal): Promise<Id>;
}

/**
 * Creates a repository.
 *
 * @throws {RepositoryError} `exists` if there is one.
 */
export async function createRepository(
  options: RepositoryOptions,
  signal: AbortSignal,
): Promise<Repository> {
  const { storage, password, now, holder } = options;
  for await (const _ of storage.list("config", signal)) {
    throw new RepositoryError("exists", "There is a repository already; join it with its password");
  }
  const keys = await randomKeys();
  // The key comes first: a config without a key could never be opened.
  await addKey(storage, keys, password, { ...holder, created: timestamp(now()) }, signal);
  const files = { storage, keys, version: 2 };
  return repositoryOf(files, await createConfig(files, signal), options);
}

/**
 * Opens a repository by the password of any of its keys.
 *
 * @throws {RepositoryError} `absent` if there is none; `wrong_password`; `unsupported`; `damaged`.
 */
export async function openRepository(
  options: RepositoryOptions,
  signal: AbortSignal,
): Promise<Repository> {
  const { storage, password, openedKeys } = options;
  const keys = await openKeys(storage, password, signal, openedKeys);
  const config = await loadConfig({ storage, keys, version: 2 }, signal);
  return repositoryOf({ storage, keys, version: config.version }, config, options);
}

function repositoryOf(
  files: RepositoryFiles,
  { id, version, chunkerPolynomial: polynomial }: Config,
  options: RepositoryOptions,
): Repository {
  const { storage, now, holder } = options;
  const indexes = createIndexCache(files);

  const lock = async (exclusive: boolean, signal: AbortSignal, { onLocked }: LockWait = {}) => {
    const held = await acquireLock(files, { ...options, exclusive, onLocked }, signal);
    return {
      isAlone: held.isAlone,
      signal: AbortSignal.any([signal, held.signal]),
      // One that cannot be removed becomes stale; the result of the work counts.
      [Symbol.asyncDispose]: () => held.release().catch(() => {}),
    };
  };

  return {
    id,
    version,
    async *locked(wait, signal) {
      await using _held = await lock(false, signal, wait);
      // In a worker, the next item is not requested before this one was used.
      yield { isAsked: true };
    },
    async backup(entries, backupOptions, signal) {
      await using held = await lock(false, signal, backupOptions);
      // A backup has an index of its own, which would be the second one in memory.
      indexes.drop();
      const parts = { polynomial, isAlone: held.isAlone, now };
      return await backUp(files, entries, backupOptions, parts, held.signal);
    },
    snapshots: (signal) => loadSnapshots(files, signal),
    snapshot: (name, signal) => findSnapshot(files, name, signal),
    async *entries(name, entryOptions, signal) {
      await using held = await lock(false, signal, entryOptions);
      const { tree } = await findSnapshot(files, name, held.signal);
      const index = await indexes.get(held.signal);
      yield* readEntries(files, index, tree, entryOptions, held.signal);
    },
    async *listEntries(name, paths, signal) {
      const { tree } = await findSnapshot(files, name, signal);
      yield* listEntries(files, await indexes.get(signal), tree, paths, signal);
    },
    async *listDirectory(name, path, signal) {
      const { tree } = await findSnapshot(files, name, signal);
      yield* readDirectory(files, await indexes.get(signal), tree, path, signal);
    },
    async *readFile(name, path, { range, takesLock = true }, callSignal) {
      await using held = takesLock ? await lock(false, callSignal) : undefined;
      const signal = held?.signal ?? callSignal;
      const { tree } = await findSnapshot(files, name, signal);
      const index = await indexes.get(signal);
      yield* readContent(files, index, tree, path, range, signal);
    },
    async *diff(before, after, signal) {
      const [old, now] = [
        await findSnapshot(files, before, signal),
        await findSnapshot(files, after, signal),
      ];
      const trees = createTreeReader(files, await indexes.get(signal), signal);
      yield* diffTrees(trees, old.tree, now.tree);
    },
    async removeSnapshots(ids, signal, wait) {
      await using held = await lock(true, signal, wait);
      for (const id of ids) await storage.remove("snapshots", id, held.signal);
    },
    async prune(pruneOptions, signal) {
      await using held = await lock(true, signal, pruneOptions);
      indexes.drop();
      return await prune(files, pruneOptions, now, held.signal);
    },
    async check(checkOptions, signal) {
      await using held = await lock(false, signal, checkOptions);
      return await check(files, checkOptions, held.signal);
    },
    unlock: ({ all }, signal) => removeLocks(files, { ...options, all }, signal),
    keys: (signal) => listKeys(storage, signal),
    addKey: (password, signal) =>
      addKey(storage, files.keys, password, { ...holder, created: timestamp(now()) }, signal),
  };
}

const timestamp = (time: Date) => formatTime(BigInt(time.getTime()) * 1_000_000n);
