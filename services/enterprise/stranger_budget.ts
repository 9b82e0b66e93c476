/**
 * How much of what strangers try is written down. Nobody who has no account shall be able to fill
 * the disk; so of one client, of a minute and of a day only so much is taken, and the rest counted.
 *
 * @module
 */

import { addressGroup } from "../address_group.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Most entries: a minute of one client, a minute of all (which bounds what is remembered), a day. */
export const OF_CLIENT_MAX = 10;
export const OF_MINUTE_MAX = 600;
export const OF_DAY_MAX = 20_000;

/** What was not written down. */
export interface Unlisted {
  count: number;
  /** The minute it began in, in Unix milliseconds. */
  sinceMs: number;
}

export interface StrangerBudget {
  /** Whether one more may be written; else it is counted. */
  take(address: string, atMs: number): boolean;
  /** What was counted in minutes before this one, once. */
  settle(atMs: number): Unlisted | undefined;
  /** What was counted until now, once. */
  end(): Unlisted | undefined;
}

export function createStrangerBudget(): StrangerBudget {
  let minute = NaN;
  let day = NaN;
  let ofMinute = 0;
  let ofDay = 0;
  const ofClient = new Map<string, number>();
  let left: Unlisted | undefined;

  const begin = (atMs: number) => {
    const now = Math.floor(atMs / MINUTE_MS);
    // Another one, for a clock that is set back would else be stuck in the future.
    if (now === minute) return;
    minute = now;
    ofMinute = 0;
    ofClient.clear();
    const today = Math.floor(atMs / DAY_MS);
    if (today !== day) ofDay = 0;
    day = today;
  };
  const end = () => {
    const ended = left;
    left = undefined;
    return ended;
  };

  return {
    take(address, atMs) {
      begin(atMs);
      const client = addressGroup(address);
      const before = ofClient.get(client) ?? 0;
      if (before >= OF_CLIENT_MAX || ofMinute >= OF_MINUTE_MAX || ofDay >= OF_DAY_MAX) {
        left ??= { count: 0, sinceMs: minute * MINUTE_MS };
        left.count++;
        return false;
      }
      ofClient.set(client, before + 1);
      ofMinute++;
      ofDay++;
      return true;
    },
    settle: (atMs) => {
      if (left === undefined || left.sinceMs === Math.floor(atMs / MINUTE_MS) * MINUTE_MS) {
        return undefined;
      }
      return end();
    },
    end,
  };
}
