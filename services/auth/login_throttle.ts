/**
 * Failed logins per address and per account: who guesses is made to wait.
 *
 * An account is refused to everybody after its failures, from wherever they came, or guessing
 * from many addresses would be free. That alone would let anybody lock an administrator out for
 * good, at the price of ten wrong passwords a minute. Therefore an address from which the account
 * was lately logged into, or its login renewed, is not held back by the failures of others: it
 * answers only for its own. Somebody else behind that same address still has no more than its ten
 * tries a minute.
 *
 * @module
 */

import { addressGroup } from "./address_group.ts";
import { ThrottledError } from "../errors.ts";

/** Failures within the window after which no more tries are allowed. */
const FAILURES_MAX = 10;

const WINDOW_MS = 60_000;

/** Most addresses, and most accounts, that are counted; beyond, the longest quiet is forgotten. */
const COUNTED_MAX = 50_000;

/** Most pairs of account and address that are known as good. */
const KNOWN_MAX = 10_000;

/** A try that is under way. Counts as failed until it is known to have succeeded. */
export interface LoginAttempt {
  succeeded(): void;
}

export interface LoginThrottle {
  /**
   * Begins a try that counts for the address and, where given, for the account (any text that
   * names one, whether it exists or not). Begin it no earlier than right before the check, for
   * tries under way count too.
   *
   * @throws {ThrottledError} After too many failures.
   */
  begin(address: string, account?: string): LoginAttempt;
  /** The account was used from this address by somebody who may. */
  remember(address: string, account: string): void;
  /** Number of addresses, accounts and pairs that are held, for the memory bound's test. */
  readonly size: number;
}

export function createLoginThrottle(now: () => Date): LoginThrottle {
  const byAddress = failureLog();
  const byAccount = failureLog();
  const known = new Set<string>();
  const pair = (group: string, account: string) => `${group} ${account}`;

  return {
    begin(address, account) {
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
          byAddress.take(group, at);
          if (account !== undefined) byAccount.take(account, at);
        },
      };
    },

    remember(address, account) {
      const key = pair(addressGroup(address), account);
      known.delete(key);
      if (known.size >= KNOWN_MAX) known.delete(known.values().next().value!);
      known.add(key);
    },

    get size() {
      return byAddress.size + byAccount.size + known.size;
    },
  };
}

function tooManyFailures(waitMs: number): ThrottledError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ThrottledError(`Too many failed attempts; try again in ${seconds} s`, seconds);
}

/** When each key lately failed; the keys with the oldest last failure come first. */
function failureLog() {
  const times = new Map<string, number[]>();

  const recent = (key: string, at: number) =>
    (times.get(key) ?? []).filter((time) => at - time < WINDOW_MS);

  return {
    get size() {
      return times.size;
    },
    /** How long until the key may try again; 0 when it may now. */
    waitMs(key: string, at: number): number {
      const failures = recent(key, at);
      return failures.length < FAILURES_MAX ? 0 : failures.at(-FAILURES_MAX)! + WINDOW_MS - at;
    },
    add(key: string, at: number): void {
      const failures = [...recent(key, at), at].slice(-FAILURES_MAX);
      times.delete(key);
      for (const [other, list] of times) {
        if (times.size < COUNTED_MAX && at - list.at(-1)! < WINDOW_MS) break;
        times.delete(other);
      }
      times.set(key, failures);
    },
    /** Takes one failure back. */
    take(key: string, at: number): void {
      const failures = times.get(key);
      const index = failures?.indexOf(at) ?? -1;
      if (!failures || index < 0) return;
      failures.splice(index, 1);
      if (failures.length === 0) times.delete(key);
    },
  };
}
