/**
 * Requests per minute and client address.
 *
 * @module
 */

import { addressGroup } from "../services/auth/address_group.ts";
import { ThrottledError } from "../services/errors.ts";

const WINDOW_MS = 60_000;

/** Most addresses that are counted at a time; beyond, the longest known one is forgotten. */
const ADDRESSES_MAX = 50_000;

interface Window {
  endsAt: number;
  count: number;
}

/** Probes that a supervisor requests every few seconds are never limited. */
export const UNLIMITED_PATHS: readonly string[] = ["/livez", "/livez/", "/readyz", "/readyz/"];

/** Refuses an address that asks too often. */
export interface RateLimit {
  /** @throws {ThrottledError} */
  check(address: string): void;
  /** Number of addresses counted, for the memory bound's test. */
  readonly size: number;
}

/**
 * @param perMinute Requests allowed in a minute that begins with an address's first one; 0 allows
 * all.
 */
export function rateLimit(perMinute: number, now: () => Date): RateLimit {
  const windows = new Map<string, Window>();

  return {
    get size() {
      return windows.size;
    },
    check(address) {
      if (perMinute === 0) return;
      const at = now().getTime();
      const key = addressGroup(address);
      let window = windows.get(key);
      if (!window || at >= window.endsAt) {
        windows.delete(key);
        if (windows.size >= ADDRESSES_MAX) windows.delete(windows.keys().next().value!);
        windows.set(key, window = { endsAt: at + WINDOW_MS, count: 0 });
      }
      if (++window.count <= perMinute) return;
      throw new ThrottledError(
        `More than ${perMinute} requests in a minute`,
        Math.max(1, Math.ceil((window.endsAt - at) / 1000)),
      );
    },
  };
}
