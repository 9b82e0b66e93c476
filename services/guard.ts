/**
 * What an edition adds on the way of every request, of whatever edition: who may come in, what
 * somebody may do beyond their role, and what is written down of it. Only Enterprise has one.
 *
 * @module
 */

import type { Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { type Edition, includesEdition } from "./edition.ts";

/** What a request came to. */
export interface Observation {
  /** `undefined` where nobody was let in who could be known. */
  caller: Caller | undefined;
  /** Of the client, as seen behind trusted proxies. */
  address: string;
  requestId: string;
  /** In capitals. */
  method: string;
  /** Pattern of the path, e.g. `/api/containers/:id/stop`. */
  path: string;
  /** Resource and action, e.g. `containers:stop`; public endpoints have none. */
  permission: string | undefined;
  /** The path's parameters, else the name in the body; empty where there is neither. */
  target: string;
  status: number;
  outcome: "success" | "failure" | "denied";
  /** The user id that a login turned out to be. */
  actor: string | undefined;
}

export interface Guard {
  /**
   * Lets a client's address in; asked before the caller is known, and again when it is.
   *
   * @throws {AppError} `forbidden`
   */
  admit(address: string, caller?: Caller): void;
  /** Whether somebody may do what their role alone does not allow, e.g. `containers:start`. */
  grants(userId: string, permission: string): boolean;
  /** Takes note of a request; the answer goes out when the promise is kept. */
  record(observation: Observation): void | Promise<void>;
}

/** How the guard of an edition is had. */
export interface GuardSource {
  edition: Edition;
  load(): Promise<(deps: Deps) => Guard>;
}

/** The guard in force: none without its edition, and a promise of it while it is being loaded. */
export type CurrentGuard = () => Guard | undefined | Promise<Guard>;

/** Loads the guard when its edition is first in force, which may be long after the start. */
export function currentGuard(deps: Deps, { edition, load }: GuardSource): CurrentGuard {
  let guard: Guard | undefined;
  let loading: Promise<Guard> | undefined;

  return () => {
    if (!includesEdition(deps.license.edition, edition)) return undefined;
    return guard ?? (loading ??= begin());
  };

  async function begin(): Promise<Guard> {
    try {
      return guard = (await load())(deps);
    } finally {
      loading = undefined;
    }
  }
}
