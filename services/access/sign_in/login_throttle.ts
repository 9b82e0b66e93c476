/**
 * Throttles failed logins per address and per account.
 *
 * After too many failures an account is blocked for all addresses, so that guessing from many
 * addresses is limited, too. That alone would let an attacker lock out an administrator with ten
 * wrong passwords a minute. An address that has recently logged in to the account, or renewed a
 * session, is therefore limited only by its own failures.
 *
 * @module
 */

import { addressGroup } from "../address_group.ts";
import { ThrottledError } from "../../errors.ts";

/** Failures within a window after which further attempts are refused. */
interface FailureLimit {
  failuresMax: number;
  windowMs: number;
}

const PER_MINUTE: FailureLimit = { failuresMax: 10, windowMs: 60_000 };

/**
 * Limits of codes of six digits: at ten a minute, one of them would be guessed within weeks by
 * someone who knows the password.
 */
export const CODE_LIMITS: readonly FailureLimit[] = [
  PER_MINUTE,
  { failuresMax: 30, windowMs: 60 * 60_000 },
];

/** Maximum number of addresses, and of accounts, in memory; the least recently failed is dropped. */
const COUNTED_MAX = 50_000;

/** Maximum number of known pairs of account and address. */
const KNOWN_MAX = 10_000;

/** A running attempt. Counts as failed until it succeeds. */
export interface LoginAttempt {
  succeeded(): void;
}

export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

/** @param limits All of them apply, to each address and to each account. */
export function createLoginThrottle(
  now: () => Date,
  limits: readonly FailureLimit[] = [PER_MINUTE],
) {
  const byAddress = failureLog(limits);
  const byAccount = failureLog(limits);
  const known = new Set<string>();
  const pair = (group: string, account: string) => `${group} ${account}`;

  return {
    /**
     * Starts an attempt that counts for the address and, if given, for the account (any text,
     * whether the account exists or not). Call it right before the check, because running attempts
     * count.
     *
     * @throws {ThrottledError} After too many failures.
     */
    begin(address: string, account?: string): LoginAttempt {
      const at = now().getTime();
      const group = addressGroup(address);
      const waitMs = Math.max(
        byAddress.waitMs(group, at),
        account === undefined || known.has(pair(group, account))
          ? 0
          : byAccount.waitMs(account, at),
      );
      if (waitMs > 0) throw tooManyFailures(waitMs);

      byAddress.add(group, at);
      if (account !== undefined) byAccount.add(account, at);
      return {
        succeeded() {
          byAddress.remove(group, at);
          if (account !== undefined) byAccount.remove(account, at);
        },
      };
    },

    /** Remembers that the account was used from this address with valid credentials. */
    remember(address: string, account: string): void {
      const key = pair(addressGroup(address), account);
      known.delete(key);
      if (known.size >= KNOWN_MAX) known.delete(known.values().next().value!);
      known.add(key);
    },

    /** Number of addresses, accounts and pairs in memory, for tests. */
    get size() {
      return byAddress.size + byAccount.size + known.size;
    },
  };
}

function tooManyFailures(waitMs: number): ThrottledError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ThrottledError(`Too many failed attempts; try again in ${seconds} s`, seconds);
}

/** Times of recent failures by key; the key that failed least recently comes first. */
function failureLog(limits: readonly FailureLimit[]) {
  const times = new Map<string, number[]>();
  const longestMs = Math.max(...limits.map(({ windowMs }) => windowMs));
  const keptMax = Math.max(...limits.map(({ failuresMax }) => failuresMax));

  const recent = (key: string, at: number, windowMs: number) =>
    (times.get(key) ?? []).filter((time) => at - time < windowMs);

  return {
    get size() {
      return times.size;
    },
    /** Time until the key may try again; 0 if it may now. */
    waitMs(key: string, at: number): number {
      return Math.max(...limits.map(({ failuresMax, windowMs }) => {
        const failures = recent(key, at, windowMs);
        return failures.length < failuresMax ? 0 : failures.at(-failuresMax)! + windowMs - at;
      }));
    },
    add(key: string, at: number): void {
      const failures = [...recent(key, at, longestMs), at].slice(-keptMax);
      times.delete(key);
      for (const [other, list] of times) {
        if (times.size < COUNTED_MAX && at - list.at(-1)! < longestMs) break;
        times.delete(other);
      }
      times.set(key, failures);
    },
    /** Removes one failure. */
    remove(key: string, at: number): void {
      const failures = times.get(key);
      const index = failures?.indexOf(at) ?? -1;
      if (!failures || index < 0) return;
      failures.splice(index, 1);
      if (failures.length === 0) times.delete(key);
    },
  };
}
