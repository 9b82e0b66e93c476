/** Writes that share a transaction, because each commit waits for the disk. @module */

import type { StateDatabase } from "../../../db/database.ts";

/**
 * Runs a write in one transaction with the other writes of the same turn of the event loop.
 *
 * @returns The result of `write`, after the commit.
 * @throws The error that rolled back the transaction (e.g. a full disk).
 */
export type GroupCommit = <Result>(write: () => Result) => Promise<Result>;

/** Maximum writes per transaction, which blocks the event loop. */
const BATCH_MAX = 500;

/** Attempts and their interval in milliseconds while another process has locked the database. */
const ATTEMPTS_MAX = 10;
const RETRY_MS = 50;

interface PendingWrite {
  write: () => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

export function createGroupCommit(db: StateDatabase): GroupCommit {
  let queue: PendingWrite[] = [];
  let isScheduled = false;

  const schedule = (attempts = ATTEMPTS_MAX, delayMs = 0) => {
    isScheduled = true;
    setTimeout(() => flush(attempts), delayMs);
  };

  const flush = (attempts: number) => {
    const batch = queue.slice(0, BATCH_MAX);
    let settle: () => void;
    try {
      const results = db.transaction(() => batch.map(({ write }) => write()));
      settle = () => batch.forEach(({ resolve }, at) => resolve(results[at]));
    } catch (error) {
      if (isBusy(error) && attempts > 1) return schedule(attempts - 1, RETRY_MS);
      settle = () => batch.forEach(({ reject }) => reject(error));
    }
    queue = queue.slice(batch.length);
    isScheduled = false;
    if (queue.length > 0) schedule();
    settle();
  };

  return (write) =>
    new Promise((resolve, reject) => {
      queue.push({ write, resolve: resolve as (result: unknown) => void, reject });
      if (!isScheduled) schedule();
    });
}

/** SQLITE_BUSY is the low byte of the extended result code. */
function isBusy(error: unknown): boolean {
  return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === 5;
}
