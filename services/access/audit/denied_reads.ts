/**
 * Denied reads of API tokens, for the audit log. A client that repeats a request, or tries many names,
 * must not fill the disk: beyond a limit they are only counted.
 *
 * @module
 */

import type { Caller } from "../caller.ts";
import { isDenial } from "../scope.ts";

const PERIOD_MS = 60 * 60 * 1000;

/** Limit of entries per token and period. */
const ENTRIES_MAX = 100;

/** Tokens that are remembered; the one that was denied least recently is dropped. */
const TOKENS_MAX = 1_000;

/** Length of the first and the last read of a summary, in UTF-16 code units. */
const READ_MAX = 200;

/** The denied reads of a token in a period beyond the limit. */
export interface OmittedReads {
  /** The caller of the last one. */
  caller: Caller;
  /** Start of the period, in Unix milliseconds. */
  startMs: number;
  count: number;
  /** E.g. `GET /api/containers/:id db`. */
  first: string;
  last: string;
}

interface Period {
  startMs: number;
  reads: Set<string>;
  omitted: OmittedReads | undefined;
}

export type DeniedReads = ReturnType<typeof createDeniedReads>;

export function createDeniedReads(now: () => Date) {
  const periods = new Map<string, Period>();
  /** Of periods that are no longer remembered. */
  let ended: OmittedReads[] = [];

  const forget = (id: string) => {
    const omitted = periods.get(id)?.omitted;
    if (omitted) ended.push(omitted);
    periods.delete(id);
  };
  const isOver = ({ startMs }: Period) => Math.abs(now().getTime() - startMs) >= PERIOD_MS;
  const forgetWhere = (test: (period: Period) => boolean): OmittedReads[] => {
    for (const [id, period] of periods) if (test(period)) forget(id);
    const all = ended;
    ended = [];
    return all;
  };

  return {
    /** Whether a failed read is recorded: each one once in an hour, at most 100. */
    isNew(caller: Caller, status: number, read: string): boolean {
      const { apiToken, scope } = caller;
      if (apiToken === undefined || !isDenial(status, scope)) return false;
      const before = periods.get(apiToken.id);
      if (before && isOver(before)) forget(apiToken.id);
      const period: Period = periods.get(apiToken.id) ??
        { startMs: now().getTime(), reads: new Set(), omitted: undefined };
      periods.delete(apiToken.id);
      if (periods.size >= TOKENS_MAX) forget(periods.keys().next().value!);
      periods.set(apiToken.id, period);
      if (period.reads.has(read)) return false;
      if (period.reads.size >= ENTRIES_MAX) {
        const last = read.slice(0, READ_MAX);
        const { count = 0, first = last } = period.omitted ?? {};
        period.omitted = { caller, startMs: period.startMs, count: count + 1, first, last };
        return false;
      }
      period.reads.add(read);
      return true;
    },
    /** Reads omitted in hours that are over, each reported once. */
    settle: (): OmittedReads[] => forgetWhere(isOver),
    /** Reads omitted until now, each reported once. */
    end: (): OmittedReads[] => forgetWhere(() => true),
  };
}
