/** Requests per minute and client address. @module */

import { addressGroup } from "../../services/access/address_group.ts";
import { ThrottledError } from "../../services/errors.ts";

const WINDOW_MS = 60_000;

/** Limit of counted addresses; beyond it, the oldest one is dropped. */
const ADDRESSES_MAX = 50_000;

interface Window {
  endsAt: number;
  count: number;
}

/** Whether a path is a health probe. Supervisors request these every few seconds without limit. */
export const isProbe = (path: string): boolean => /^\/(livez|readyz)\/?$/.test(path);

/** Limits the requests of each address. */
interface RateLimit {
  /** @throws {ThrottledError} */
  check(address: string): void;
  /** Number of counted addresses, for tests. */
  readonly size: number;
}

/**
 * @param perMinute Requests of an address in the minute that starts with its first one; 0 disables
 * the limit.
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
        `Limit of ${perMinute} requests per minute exceeded`,
        Math.max(1, Math.ceil((window.endsAt - at) / 1000)),
      );
    },
  };
}
