/**
 * Fair shares of what there is a limited number of, e.g. streams: neither one API token nor one
 * account can take everything.
 *
 * @module
 */

import { AppError, ThrottledError } from "../errors.ts";
import type { Caller } from "./caller.ts";

/** The account of a caller, and the API token that it uses. */
export type Holder = Pick<Caller, "userId" | "apiToken">;

export type Shares = ReturnType<typeof createShares>;

/** When a refused holder may try again, in seconds. */
const RETRY_AFTER_S = 30;

/** Part that one account with all of its API tokens may take. */
const ACCOUNT_PART = 3 / 4;

/**
 * An API token, and the logins of an account together, may take another one while they have fewer
 * than are free: the first half of all, the next one half of the rest. One without any gets one as
 * long as one is free.
 *
 * @param options.what What is shared, in the plural.
 * @param options.hint End of the message when all are taken.
 */
export function createShares(
  { what, max, hint = "" }: { what: string; max: number; hint?: string },
) {
  const counts = new Map<string, number>();
  let taken = 0;

  return {
    get taken() {
      return taken;
    },

    /**
     * @param holder `undefined` for the service itself, which has no share.
     * @returns The function that gives it back.
     * @throws {AppError} `unavailable` if all are taken; `too_many_requests` above the share.
     */
    take(holder: Holder | undefined): () => void {
      const keys = keysOf(holder);
      assertFree(keys);
      taken++;
      for (const key of keys) change(key, 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        taken--;
        for (const key of keys) change(key, -1);
      };
    },
  };

  function assertFree([single, account]: readonly string[]): void {
    const free = max - taken;
    if (free <= 0) throw new AppError("unavailable", `Limit of ${max} ${what} reached${hint}`);
    const own = countOf(single);
    if (own === 0) return;
    if (own >= free) throw aboveShare("these logins or this API token", own);
    const ofAccount = countOf(account);
    if (ofAccount >= max * ACCOUNT_PART) throw aboveShare("this account", ofAccount);
  }

  function aboveShare(who: string, count: number): AppError {
    return new ThrottledError(
      `Share of ${count} of ${max} ${what} reached for ${who}; close one first`,
      RETRY_AFTER_S,
    );
  }

  function countOf(key: string | undefined): number {
    return key === undefined ? 0 : counts.get(key) ?? 0;
  }

  function change(key: string, by: number): void {
    const count = countOf(key) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }
}

/** The API token or the logins, and the account. */
function keysOf(holder: Holder | undefined): string[] {
  if (!holder) return [];
  const { userId, apiToken } = holder;
  return [apiToken ? `token ${apiToken.id}` : `logins ${userId}`, `account ${userId}`];
}
