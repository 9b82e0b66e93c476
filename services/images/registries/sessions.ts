/**
 * Sessions at image registries, kept in memory: tokens, authentication schemes, and the time until
 * when a registry accepts no requests.
 *
 * @module
 */

import { createLimiter, type Limiter } from "../../limiter.ts";

/** Authentication scheme that a registry requires (RFC 9110, 11.6.1). */
export interface Challenge {
  /** In lower case, e.g. `bearer`. */
  scheme: string;
  /** Names in lower case. */
  params: Readonly<Record<string, string>>;
}

/** Limit of requests at a time per registry. */
const REQUESTS_MAX = 4;

/** Limit of remembered registries. */
const REGISTRIES_MAX = 500;

/** Limit of remembered tokens. */
const TOKENS_MAX = 1_000;

export type RegistrySessions = ReturnType<typeof createRegistrySessions>;

export function createRegistrySessions(now: () => Date) {
  const limiters = new Map<string, { limiter: Limiter; uses: number }>();
  return {
    /** Runs `work` when fewer than four requests to that registry are running. */
    async inTurn<Result>(host: string, work: () => Promise<Result>): Promise<Result> {
      const used = limiters.get(host) ?? {
        limiter: createLimiter({ what: "requests", running: REQUESTS_MAX, waiting: Infinity }),
        uses: 0,
      };
      limiters.set(host, used);
      used.uses++;
      try {
        return await used.limiter(work);
      } finally {
        if (--used.uses === 0) limiters.delete(host);
      }
    },
    /** Runs `work` on a large answer when no other one is worked on, as parsing does not yield. */
    alone: createLimiter({ what: "answers", running: 1, waiting: Infinity }),
    /** Bearer tokens. */
    tokens: createExpiringMap<string>(now, TOKENS_MAX),
    /** By origin; `null` for a registry that needs no authentication. */
    challenges: createExpiringMap<Challenge | null>(now, REGISTRIES_MAX),
    /** Rate limits by host: when they end, in milliseconds since 1970. */
    limits: createExpiringMap<number>(now, REGISTRIES_MAX),
  };
}

/** A map whose entries expire, and whose oldest entry gives way to a new one beyond a limit. */
function createExpiringMap<Value>(now: () => Date, max: number) {
  const entries = new Map<string, { value: Value; endMs: number }>();
  return {
    /** `undefined` for an unknown key and after the end. */
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      return entry && entry.endMs > now().getTime() ? entry.value : undefined;
    },
    set(key: string, value: Value, ttlMs: number): void {
      // A changed entry becomes the newest.
      entries.delete(key);
      entries.set(key, { value, endMs: now().getTime() + ttlMs });
      if (entries.size > max) entries.delete(entries.keys().next().value!);
    },
    delete: (key: string): void => void entries.delete(key),
  };
}
