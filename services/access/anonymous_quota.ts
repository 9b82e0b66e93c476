/**
 * A quota for what is recorded of anonymous requests, so that clients without an account cannot
 * fill the disk: some per client, minute and day are recorded, the rest is counted.
 *
 * @module
 */

import { addressGroup } from "./address_group.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Clients that a summary names. */
const NAMED_MAX = 100;

interface QuotaLimits {
  /** Per minute and client: an IPv4 address or an IPv6 /64. */
  ofClient: number;
  /** Per minute from all clients. It also bounds the clients that are remembered. */
  ofMinute: number;
  /** Per day from all clients; unlimited unless given. */
  ofDay?: number;
}

/** Requests that were not recorded. */
export interface Omitted {
  count: number;
  /** Start of the first minute in which something was omitted, in Unix milliseconds. */
  sinceMs: number;
  /** The first clients of them. */
  clients: string[];
}

export type AnonymousQuota = ReturnType<typeof createAnonymousQuota>;

export function createAnonymousQuota({ ofClient, ofMinute, ofDay = Infinity }: QuotaLimits) {
  let minute = NaN;
  let day = NaN;
  let takenOfMinute = 0;
  let takenOfDay = 0;
  const takenOfClient = new Map<string, number>();
  let omitted: { count: number; sinceMs: number; clients: Set<string> } | undefined;

  const begin = (atMs: number) => {
    const current = Math.floor(atMs / MINUTE_MS);
    // Any other minute counts, because a clock that was set back would otherwise stop the quota.
    if (current === minute) return;
    minute = current;
    takenOfMinute = 0;
    takenOfClient.clear();
    const today = Math.floor(atMs / DAY_MS);
    if (today !== day) takenOfDay = 0;
    day = today;
  };
  /** Requests omitted until now, each reported once. */
  const end = (): Omitted | undefined => {
    const ended = omitted;
    omitted = undefined;
    return ended && { ...ended, clients: [...ended.clients] };
  };

  return {
    /** Whether one more may be recorded; otherwise it is counted. */
    take(address: string, atMs: number): boolean {
      begin(atMs);
      const client = addressGroup(address);
      const taken = takenOfClient.get(client) ?? 0;
      if (taken >= ofClient || takenOfMinute >= ofMinute || takenOfDay >= ofDay) {
        omitted ??= { count: 0, sinceMs: minute * MINUTE_MS, clients: new Set() };
        omitted.count++;
        if (omitted.clients.size < NAMED_MAX) omitted.clients.add(client);
        return false;
      }
      takenOfClient.set(client, taken + 1);
      takenOfMinute++;
      takenOfDay++;
      return true;
    },
    /** Returns the omissions of earlier minutes, once. */
    settle(atMs: number): Omitted | undefined {
      if (omitted?.sinceMs === Math.floor(atMs / MINUTE_MS) * MINUTE_MS) return undefined;
      return end();
    },
    end,
  };
}
