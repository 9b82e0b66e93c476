/**
 * What was learned from image registries and is kept in memory: tokens, how to authenticate, and
 * until when a registry accepts no requests.
 *
 * @module
 */

import { createLimiter, type Limiter } from "../limiter.ts";

/** How a registry wants requests to be authenticated (RFC 9110, 11.6.1). */
export interface Challenge {
  /** In lower case, e.g. `bearer`. */
  scheme: string;
  /** Names in lower case. */
  params: Readonly<Record<string, string>>;
}

export interface RegistrySessions {
  /** Runs `work` when fewer than four requests to that registry are running. */
  inTurn<Result>(host: string, work: () => Promise<Result>): Promise<Result>;
  /** Bearer tokens. */
  tokens: ExpiringMap<string>;
  /** By origin; `null` for a registry that needs no authentication. */
  challenges: ExpiringMap<Challenge | null>;
  /** Rate limits by host: when they end, in milliseconds since 1970. */
  limits: ExpiringMap<number>;
}

/** A map whose entries expire, and whose oldest entry gives way to a new one beyond a limit. */
interface ExpiringMap<Value> {
  /** `undefined` for an unknown key and after the end. */
  get(key: string): Value | undefined;
  set(key: string, value: Value, ttlMs: number): void;
  delete(key: string): void;
}

/** Limit of requests at a time per registry. */
const REQUESTS_MAX = 4;

/** Limit of remembered registries. */
const REGISTRIES_MAX = 500;

/** Limit of remembered tokens. */
const TOKENS_MAX = 1_000;

export function createRegistrySessions(now: () => Date): RegistrySessions {
  const limiters = new Map<string, { limiter: Limiter; uses: number }>();
  return {
    async inTurn(host, work) {
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
    tokens: createExpiringMap(now, TOKENS_MAX),
    challenges: createExpiringMap(now, REGISTRIES_MAX),
    limits: createExpiringMap(now, REGISTRIES_MAX),
  };
}

function createExpiringMap<Value>(now: () => Date, max: number): ExpiringMap<Value> {
  const entries = new Map<string, { value: Value; endMs: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      return entry && entry.endMs > now().getTime() ? entry.value : undefined;
    },
    set(key, value, ttlMs) {
      // A changed entry becomes the newest.
      entries.delete(key);
      entries.set(key, { value, endMs: now().getTime() + ttlMs });
      if (entries.size > max) entries.delete(entries.keys().next().value!);
    },
    delete: (key) => void entries.delete(key),
  };
}
