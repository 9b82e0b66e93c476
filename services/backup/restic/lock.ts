/**
 * Locks (design document, "Locks"): files that announce a process. An exclusive lock allows no other
 * one. A lock is refreshed every 5 minutes and stale after 30, or when its process has ended.
 *
 * @module
 */

import { nodeProcess } from "../../builtins.ts";
import { sleep } from "../../waiting.ts";
import type { Id } from "./id.ts";
import { shapeOf } from "./json_shape.ts";
import { RepositoryError, shown } from "./repository_error.ts";
import {
  listFiles,
  loadJson,
  type RepositoryFiles,
  saveJson,
  titleOf,
} from "./repository_files.ts";
import { StorageError } from "./storage.ts";
import { formatTime, parseTime } from "./time.ts";

const REFRESH_MS = 5 * 60_000;
const STALE_MS = 30 * 60_000;

/** Age of a lock that could not be refreshed at which its holder gives up: before others do. */
const LOST_MS = 25 * 60_000;

/** Attempts to get a lock that another process excludes, and the pause between them: 10 minutes. */
const ATTEMPTS_MAX = 120;
const RETRY_MS = 5_000;

/** Wait between creating a lock and looking for others, as in restic. */
const SETTLE_MS = 200;

/** The process that takes locks. */
export interface LockHolder {
  hostname: string;
  /**
   * Name that only this installation uses on its host. An installation has one process, so that
   * locks of this name from before `startedAt` are stale.
   */
  username: string;
  uid: number;
  gid: number;
  pid: number;
  startedAt: Date;
}

/** Lock as a file has it. */
export interface StoredLock extends Omit<LockHolder, "startedAt"> {
  id: Id;
  time: Date;
  exclusive: boolean;
}

/** A lock that this process holds. */
export interface Lock {
  /** Aborted when the lock is lost. */
  signal: AbortSignal;
  /** Whether no other process had a lock. */
  isAlone: boolean;
  /** Replaces the file by one of the present time. */
  refresh(): Promise<void>;
  release(): Promise<void>;
}

/** Parts that locks need. */
export interface LockOptions {
  holder: LockHolder;
  now: () => Date;
  /** Milliseconds before the second check for other locks. */
  settleMs?: number;
  /** Milliseconds between attempts. */
  retryMs?: number;
}

export interface LockWait {
  /**
   * Called with the reason before each wait for a lock that excludes this one, as with restic's
   * `--retry-lock`, for 10 minutes. Default: fails at once.
   */
  onLocked?: ((reason: string) => void) | undefined;
}

/**
 * Locks the repository. Stale locks are removed.
 *
 * @throws {RepositoryError} `locked` with the holder of the lock that excludes this one.
 */
export async function acquireLock(
  files: RepositoryFiles,
  { onLocked, ...options }: LockOptions & LockWait & { exclusive: boolean },
  signal: AbortSignal,
): Promise<Lock> {
  for (let attempts = 1;; attempts++) {
    try {
      return await tryToLock(files, options, signal);
    } catch (error) {
      const isLocked = error instanceof RepositoryError && error.reason === "locked";
      if (!onLocked || !isLocked || attempts === ATTEMPTS_MAX) throw error;
      onLocked(error.message);
      // Two exclusive ones that wait for each other do not try at the same time again.
      await sleep((options.retryMs ?? RETRY_MS) * (1 + Math.random() / 2), signal);
      signal.throwIfAborted();
    }
  }
}

async function tryToLock(
  files: RepositoryFiles,
  { exclusive, ...options }: LockOptions & { exclusive: boolean },
  signal: AbortSignal,
): Promise<Lock> {
  const { now, settleMs = SETTLE_MS } = options;
  await assertNoConflict(files, exclusive, undefined, options, signal);
  let id = await createLock(files, exclusive, options, signal);
  let refreshedAt = now();
  let isAlone = false;
  const release = () => files.storage.remove("locks", id, AbortSignal.timeout(60_000));
  try {
    await sleep(settleMs, signal);
    isAlone = await assertNoConflict(files, exclusive, id, options, signal);
  } catch (error) {
    // One that stays is stale when this process has ended.
    await release().catch(() => {});
    throw error;
  }

  const lost = new AbortController();
  const refresh = async () => {
    const old = id;
    id = await createLock(files, exclusive, options, lost.signal);
    refreshedAt = now();
    await files.storage.remove("locks", old, lost.signal);
  };
  let refreshing = Promise.resolve();
  const timer = setInterval(() => {
    refreshing = refresh().catch((cause) => {
      if (now().getTime() - refreshedAt.getTime() < LOST_MS) return;
      const message =
        "The repository's lock could not be refreshed; check the target and try again";
      lost.abort(new RepositoryError("locked", message, { cause }));
    });
  }, REFRESH_MS);
  return {
    signal: lost.signal,
    isAlone,
    refresh,
    async release() {
      clearInterval(timer);
      await refreshing;
      await release();
    },
  };
}

/**
 * Removes stale locks, or all.
 *
 * @returns The removed ones; those that cannot be read have no holder.
 */
export async function removeLocks(
  files: RepositoryFiles,
  { all, ...options }: LockOptions & { all: boolean },
  signal: AbortSignal,
): Promise<Id[]> {
  const removed: Id[] = [];
  for await (const { name } of listFiles(files.storage, "locks", signal)) {
    if (!all) {
      const lock = await loadLock(files, name, signal);
      if (lock === undefined || !isStale(lock, options)) continue;
    }
    await files.storage.remove("locks", name, signal);
    removed.push(name);
  }
  return removed;
}

/** Locks of the repository, also stale ones. */
async function* listLocks(
  files: RepositoryFiles,
  signal: AbortSignal,
): AsyncGenerator<StoredLock> {
  for await (const { name, size } of listFiles(files.storage, "locks", signal)) {
    // A target that does not write whole files can leave an empty one.
    if (size === 0) continue;
    const lock = await loadLock(files, name, signal);
    if (lock !== undefined) yield lock;
  }
}

/** @returns Whether there are no other locks at all. */
async function assertNoConflict(
  files: RepositoryFiles,
  exclusive: boolean,
  ownId: Id | undefined,
  options: LockOptions,
  signal: AbortSignal,
): Promise<boolean> {
  let isAlone = true;
  for await (const lock of listLocks(files, signal)) {
    if (lock.id === ownId) continue;
    if (isStale(lock, options)) {
      await files.storage.remove("locks", lock.id, signal);
    } else if (exclusive || lock.exclusive) {
      throw new RepositoryError("locked", describeConflict(lock));
    } else {
      isAlone = false;
    }
  }
  return isAlone;
}

function describeConflict({ exclusive, pid, hostname, username, time }: StoredLock): string {
  const kind = exclusive ? "exclusively locked" : "locked";
  return `Repository is ${kind} by process ${pid} of ${shown(username)} on ${shown(hostname)} ` +
    `since ${time.toISOString()}; wait for it, or unlock the repository if it has ended`;
}

function isStale(lock: StoredLock, { holder, now }: LockOptions): boolean {
  if (now().getTime() - lock.time.getTime() > STALE_MS) return true;
  if (lock.hostname !== holder.hostname) return false;
  if (lock.username === holder.username) {
    return lock.pid !== holder.pid || lock.time < holder.startedAt;
  }
  return lock.pid !== holder.pid && !mayBeAlive(lock.pid);
}

/** Without the permission to signal processes, which the service lacks, any process may be alive. */
function mayBeAlive(pid: number): boolean {
  try {
    return nodeProcess().kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

async function createLock(
  files: RepositoryFiles,
  exclusive: boolean,
  { holder, now }: LockOptions,
  signal: AbortSignal,
): Promise<Id> {
  const { hostname, username, pid, uid, gid } = holder;
  const time = formatTime(BigInt(now().getTime()) * 1_000_000n);
  const json = JSON.stringify({
    time,
    exclusive,
    hostname,
    username,
    pid,
    uid: uid || undefined,
    gid: gid || undefined,
  });
  return await saveJson(files, "locks", json, signal);
}

/** @returns `undefined` for one that was removed meanwhile. */
async function loadLock(
  files: RepositoryFiles,
  id: Id,
  signal: AbortSignal,
): Promise<StoredLock | undefined> {
  const shape = shapeOf(titleOf("locks", id));
  try {
    const fields = shape.object(await loadJson(files, "locks", id, signal), "the file");
    const time = parseTime(shape.text(fields.time, "time"));
    return {
      id,
      time: new Date(Number((time ?? 0n) / 1_000_000n)),
      exclusive: fields.exclusive === true,
      hostname: shape.text(fields.hostname ?? "", "hostname"),
      username: shape.text(fields.username ?? "", "username"),
      uid: shape.count(fields.uid, "uid"),
      gid: shape.count(fields.gid, "gid"),
      pid: shape.count(fields.pid, "pid"),
    };
  } catch (error) {
    if (error instanceof StorageError && error.reason === "not_found") return undefined;
    throw error;
  }
}
