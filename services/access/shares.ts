/**
 * Fair shares of what there is a limited number of, e.g. streams: neither one API token nor one
 * account can take everything.
 *
 * @module
 */

import { KEY_USER } from "./accounts.ts";
import { AppError, ThrottledError } from "../errors.ts";
import type { ApiTokenRef, Caller } from "./caller.ts";

/** The account of a caller, and the API token that it uses. */
export interface Holder extends Pick<Caller, "userId"> {
  apiToken?: Pick<ApiTokenRef, "id">;
}

export type Shares = ReturnType<typeof createShares>;

/** When a refused holder may try again, in seconds. */
const RETRY_AFTER_S = 30;

/** Part that one account with all of its API tokens may take. */
export const ACCOUNT_PART = 3 / 4;

/** Part that is left to accounts without any. */
const RESERVED_PART = 1 / 8;

/**
 * An API token, and the logins of an account together, may take another one while they have fewer
 * than are free: the first half of all, the next one half of the rest. An account without any gets
 * one as long as one is free.
 *
 * @param options.what What is shared, in the plural.
 * @param options.hint End of the message when all are taken.
 * @param options.full Creates the error when all are taken; default: an {@linkcode AppError}
 * `unavailable`.
 */
export function createShares(
  {
    what,
    max,
    hint = "",
    full = () => new AppError("unavailable", `Limit of ${max} ${what} reached${hint}`),
  }: { what: string; max: number; hint?: string; full?: () => Error },
) {
  const reserved = Math.ceil(max * RESERVED_PART);
  const counts = new Map<string, number>();
  let taken = 0;

  return {
    get taken() {
      return taken;
    },

    /**
     * @param holder `undefined` for the service itself, which has no share.
     * @returns The function that gives it back.
     * @throws The error of `full` if all are taken; {@linkcode ThrottledError} above the share.
     */
    take(holder: Holder | undefined): () => void {
      const keys = holder ? keysOf(holder) : [];
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
    if (free <= 0) throw full();
    const ofAccount = countOf(account);
    if (ofAccount === 0) return;
    const own = countOf(single);
    if (own > 0 && own >= free) throw aboveShare("these logins or this API token", own);
    if (ofAccount >= max * ACCOUNT_PART || free <= reserved) {
      throw aboveShare("this account", ofAccount);
    }
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
export function keysOf(holder: Holder): [single: string, account: string] {
  const { userId, apiToken } = holder;
  return [apiToken ? `token ${apiToken.id}` : `logins ${userId}`, accountOf(holder)];
}

/** In key mode, API tokens belong to different programs, and only the holder of the key creates them. */
export function accountOf({ userId, apiToken }: Holder): string {
  return userId === KEY_USER && apiToken ? `account of token ${apiToken.id}` : `account ${userId}`;
}
