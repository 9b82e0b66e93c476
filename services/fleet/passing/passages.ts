/** Requests that are being passed on, within limits for each host and caller. @module */

import { type Caller, includesRole } from "../../access/caller.ts";
import { createShares, type Shares } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { callerValidity } from "../../stream/validity.ts";

/** Requests to one host at a time, event streams and terminals included. */
const OF_HOST_MAX = 256;

/** Interval between checks of the callers, in milliseconds. */
const CHECK_MS = 5_000;

/** A request that is being passed on. */
export interface Passage {
  /** Aborts when the caller may no longer do what the note said. */
  signal: AbortSignal;
  /** May be called again. */
  end(): void;
}

export type Passages = ReturnType<typeof createPassages>;

export function createPassages(deps: Pick<Deps, "accounts" | "now">) {
  const open = new Set<{ isAllowed: () => boolean; abort: () => void }>();
  const shares = new Map<string, Shares>();
  let timer: ReturnType<typeof setInterval> | undefined;

  /** Ends those whose caller was logged out, lost the role or the address, or has expired. */
  const check = () => {
    for (const { isAllowed, abort } of open) if (!isAllowed()) abort();
  };
  deps.accounts.subscribe(check);

  return {
    check,

    /**
     * @param isValid Whether the caller may keep it open; default: as long as their token is valid.
     * @throws {AppError} `unavailable` or `too_many_requests` above a limit.
     */
    begin(
      caller: Caller,
      host: { id: string; name: string },
      isValid = callerValidity(deps, caller),
    ): Passage {
      const ofHost = shares.get(host.id) ??
        createShares({ what: `requests to host ${host.name}`, max: OF_HOST_MAX });
      const release = ofHost.take(caller);
      shares.set(host.id, ofHost);
      const ending = new AbortController();
      const isAllowed = () =>
        isValid() && includesRole(deps.accounts.roleOf(caller) ?? "public", caller.role);
      const passage = { isAllowed, abort: () => ending.abort() };
      open.add(passage);
      timer ??= setInterval(check, CHECK_MS);
      return {
        signal: ending.signal,
        end() {
          release();
          open.delete(passage);
          if (ofHost.taken === 0) shares.delete(host.id);
          if (open.size > 0) return;
          clearInterval(timer);
          timer = undefined;
        },
      };
    },

    /** Number of requests that are being passed on, for tests. */
    get size() {
      return open.size;
    },
  };
}
