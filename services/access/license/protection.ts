/**
 * Access protection: after the Enterprise edition ended, an enforced IP allowlist and a started
 * compliance log stay in force for some days. Otherwise an expired license, or an attacker who
 * removes it, would open the service to every address and stop the recording.
 *
 * @module
 */

import { type Edition, includesEdition } from "../../edition.ts";

/** Time by which the protection outlives the edition. */
const PROTECTION_MS = 14 * 24 * 60 * 60 * 1000;

/** Stored instead of a time while the edition is in force. */
const IN_FORCE = "in force";

/** Store of the end of the edition, so that a restart does not begin the period again. */
export interface EndStore {
  load(): string | undefined;
  save(value: string): void;
}

/** For programs that only read the license. */
export const FORGOTTEN: EndStore = { load: () => undefined, save: () => {} };

export function createProtection(now: () => Date, store: EndStore) {
  let state: string | undefined;
  let isLoaded = false;
  const keep = (value: string) => {
    state = value;
    store.save(value);
  };

  return {
    /**
     * The end of the protection, given the edition in force now; `undefined` while there is none.
     * The first call after the edition ended starts the period.
     */
    until(edition: Edition): Date | undefined {
      if (!isLoaded) state = store.load();
      isLoaded = true;
      if (includesEdition(edition, "enterprise")) {
        if (state !== IN_FORCE) keep(IN_FORCE);
        return undefined;
      }
      if (state === undefined) return undefined;
      const at = now().getTime();
      let endedAtMs = Date.parse(state);
      // An end in the future comes from a clock that was wrong. It must not prolong the period.
      if (!(endedAtMs <= at)) {
        endedAtMs = at;
        keep(new Date(at).toISOString());
      }
      const untilMs = endedAtMs + PROTECTION_MS;
      return at < untilMs ? new Date(untilMs) : undefined;
    },
  };
}

/** Warning for users while the protection lasts. */
export function protectionWarning(until: Date | undefined): string | null {
  if (until === undefined) return null;
  const minute = until.toISOString().slice(0, 16).replace("T", " ");
  return "The Enterprise edition ended. An enforced IP allowlist and a started compliance log stay " +
    `in force until ${minute} UTC; install a license, or run "longshore ip-allowlist off"`;
}
