/** Requests that are being passed on, within limits for each host and caller. @module */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import { includesRole } from "../../access/caller.ts";
import { seesHost } from "../../access/host_scope.ts";
import { createShares, type Shares } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { callerValidity } from "../../stream/validity.ts";
import type { Passages } from "./sides.ts";

/** Requests to one host at a time, event streams and terminals included. */
const OF_HOST_MAX = 256;

/** Interval between checks of the callers, in milliseconds. */
const CHECK_MS = 5_000;

export function createPassages(deps: Pick<Deps, "accounts" | "db" | "now">): Passages {
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

    begin(caller, host, isValid = callerValidity(deps, caller)) {
      // Its name and labels may have changed meanwhile.
      const isAllowed = () =>
        isValid() && seesHost(caller, selectFleetHost(deps.db, host.id) ?? host) &&
        includesRole(deps.accounts.roleOf(caller) ?? "public", caller.role);
      if (!isAllowed()) {
        throw new AppError("forbidden", `The rights at host ${host.name} have ended`);
      }
      const ofHost = shares.get(host.id) ??
        createShares({ what: `requests to host ${host.name}`, max: OF_HOST_MAX });
      const release = ofHost.take(caller);
      shares.set(host.id, ofHost);
      const ending = new AbortController();
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

    get size() {
      return open.size;
    },
  };
}
