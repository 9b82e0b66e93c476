/** Limits of expensive requests, of which one account gets a part only. @module */

import { ThrottledError } from "../errors.ts";
import { ACCOUNT_PART, accountOf, createShares, type Holder } from "./shares.ts";

/** Runs `work` when the holder's account may run another operation. */
export type FairLimiter = <Result>(holder: Holder, work: () => Promise<Result>) => Promise<Result>;

/** When a refused holder may try again, in seconds. */
const RETRY_AFTER_S = 5;

/**
 * The running and waiting operations together are shared as in `createShares()`. One account runs
 * three quarters of the limit; of those that wait, the first of the account that runs the fewest is
 * next. A call above the holder's share fails with a {@linkcode ThrottledError}.
 *
 * @param options.what Names the operations in the error message, e.g. `"log searches"`.
 * @param options.running Limit of operations that run at the same time.
 * @param options.waiting Limit of operations that wait.
 * @param options.busy Creates the error for a call beyond both limits; default: a
 * {@linkcode ThrottledError}.
 */
export function createFairLimiter(
  {
    what,
    running,
    waiting,
    busy = () => new ThrottledError(`Too many ${what} at the same time`, RETRY_AFTER_S),
  }: { what: string; running: number; waiting: number; busy?: () => Error },
): FairLimiter {
  const shares = createShares({ what, max: running + waiting, full: busy });
  const accountMax = Math.max(1, Math.floor(running * ACCOUNT_PART));
  /** Number of running operations by account. */
  const counts = new Map<string, number>();
  const queue: { account: string; start: () => void }[] = [];
  let inside = 0;

  return async (holder, work) => {
    const account = accountOf(holder);
    const release = shares.take(holder);
    try {
      if (mayStart(account)) change(account, 1);
      else await new Promise<void>((start) => queue.push({ account, start }));
      try {
        return await work();
      } finally {
        change(account, -1);
        startNext();
      }
    } finally {
      release();
    }
  };

  function mayStart(account: string): boolean {
    return inside < running && countOf(account) < accountMax;
  }

  function startNext(): void {
    const able = queue.filter(({ account }) => mayStart(account));
    able.sort((a, b) => countOf(a.account) - countOf(b.account));
    const [next] = able;
    if (!next) return;
    queue.splice(queue.indexOf(next), 1);
    change(next.account, 1);
    next.start();
  }

  function countOf(account: string): number {
    return counts.get(account) ?? 0;
  }

  function change(account: string, by: number): void {
    inside += by;
    const count = countOf(account) + by;
    if (count > 0) counts.set(account, count);
    else counts.delete(account);
  }
}
