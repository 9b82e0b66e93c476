/**
 * The guard: what an edition adds to the handling of every request, also those of other editions. It
 * decides which addresses are admitted and what callers may do beyond their role, and it records the
 * requests. Only Enterprise has one.
 *
 * @module
 */

import type { Caller } from "./auth/caller.ts";
import type { Deps } from "./deps.ts";
import { type Edition, includesEdition } from "./license/edition.ts";
import { protectionWarning } from "./license/protection.ts";

/** A request and how it was answered. */
export interface Observation {
  /** `undefined` when the request was refused before the caller was known. */
  caller: Caller | undefined;
  /** Address of the client, as seen behind trusted proxies. */
  address: string;
  requestId: string;
  /** In capital letters. */
  method: string;
  /** The pattern of the path, e.g. `/api/containers/:id/stop`. */
  path: string;
  /** What the endpoint needs, e.g. `containers:stop`; `undefined` for public endpoints. */
  permission: string | undefined;
  /** The path's parameters; without any, the name in the body; without that, empty. */
  target: string;
  /** Ids and names of everything that the request was about. */
  targets: readonly string[];
  /** The command or the options that say what was done. */
  command: string | null;
  status: number;
  outcome: "success" | "failure" | "denied";
  /** After a login the id of the user who logged in. */
  actor: string | undefined;
}

export interface AccessPolicy {
  /**
   * Refuses a client whose address is not admitted. Called before the caller is known, and again
   * with the caller.
   *
   * @throws {AppError} `forbidden`
   */
  admit(address: string, caller?: Caller): void;
  /** Whether the caller's address is still admitted. For streams, which outlive their request. */
  admits(caller: Caller): boolean;
  /** Whether custom roles are in force. */
  hasCustomRoles: boolean;
  /** Whether a user has a permission that their role does not have, e.g. `containers:start`. */
  grants(userId: string, permission: string): boolean;
  /** Whether the caller has everything that a user has beyond their role. */
  includesRightsOf(caller: Caller, userId: string): boolean;
  /** Records a request. The answer waits for the promise. */
  record(observation: Observation): void | Promise<void>;
}

/** Where the guard of an edition comes from. */
export interface AccessPolicySource {
  edition: Edition;
  load(): Promise<(deps: Deps) => AccessPolicy>;
}

/**
 * Gives the guard: `undefined` without its edition, and a promise while it is being loaded. While
 * the protection of an ended edition lasts, the guard checks addresses and records requests only.
 */
export type CurrentAccessPolicy = () => AccessPolicy | undefined | Promise<AccessPolicy>;

const ENDED = "edition ended: addresses are no longer checked, custom roles grant nothing, " +
  "and nothing is written into the compliance log";

/** What of the guard is in force. */
type Scope = "all" | "protection" | "nothing";

/** Loads the guard when it is first needed. That may be long after the start. */
export function currentGuard(
  deps: Deps,
  { edition, load }: AccessPolicySource,
): CurrentAccessPolicy {
  const { license, log } = deps;
  let guard: Record<Exclude<Scope, "nothing">, AccessPolicy> | undefined;
  let loading: Promise<void> | undefined;
  let scope: Scope = "nothing";

  return () => {
    const until = license.protectedUntil();
    const before = scope;
    scope = includesEdition(license.edition, edition) ? "all" : until ? "protection" : "nothing";
    if (scope !== before && scope !== "all") {
      log.warn(protectionWarning(until) ?? ENDED, { edition });
    }
    if (scope === "nothing") return undefined;
    return guard?.[scope] ?? loaded(scope);
  };

  async function loaded(wanted: Exclude<Scope, "nothing">): Promise<AccessPolicy> {
    await (loading ??= begin());
    return guard![wanted];
  }

  async function begin(): Promise<void> {
    try {
      const all = (await load())(deps);
      guard = { all, protection: withoutRoles(all) };
    } finally {
      loading = undefined;
    }
  }
}

const withoutRoles = (guard: AccessPolicy): AccessPolicy => ({
  ...guard,
  hasCustomRoles: false,
  grants: () => false,
  includesRightsOf: () => false,
});
