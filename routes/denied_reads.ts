/**
 * Denied reads of API tokens, for the audit log. A client that repeats a request, or tries many names,
 * must not fill the disk.
 *
 * @module
 */

import type { Caller } from "../services/auth/caller.ts";
import { isLimited } from "../services/auth/scope.ts";

const PERIOD_MS = 60 * 60 * 1000;

/** Limit of entries per token and period. */
const ENTRIES_MAX = 100;

/** Tokens that are remembered; the one that was denied least recently is dropped. */
const TOKENS_MAX = 1_000;

export type DeniedReads = ReturnType<typeof createDeniedReads>;

export function createDeniedReads(now: () => Date) {
  const periods = new Map<string, { startMs: number; reads: Set<string> }>();

  return {
    /** Whether a failed read is recorded: each one once in an hour, at most 100. */
    isNew({ apiToken, scope }: Caller, status: number, read: string): boolean {
      // What is outside of the scope is 404.
      const isDenied = status === 403 || status === 404 && isLimited(scope);
      if (apiToken === undefined || !isDenied) return false;
      const at = now().getTime();
      let period = periods.get(apiToken.id);
      if (!period || Math.abs(at - period.startMs) >= PERIOD_MS) {
        period = { startMs: at, reads: new Set() };
      }
      periods.delete(apiToken.id);
      if (periods.size >= TOKENS_MAX) periods.delete(periods.keys().next().value!);
      periods.set(apiToken.id, period);
      if (period.reads.has(read) || period.reads.size >= ENTRIES_MAX) return false;
      period.reads.add(read);
      return true;
    },
  };
}
