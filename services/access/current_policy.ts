/** Finds the access policy that is in force: its edition may begin and end while the service runs. @module */

import type { Deps } from "../deps.ts";
import { type Edition, includesEdition } from "../edition.ts";
import { protectionWarning } from "./license/protection.ts";
import type { AccessPolicy, CurrentAccessPolicy } from "./policy.ts";

/** Loads the access policy of an edition. */
export interface AccessPolicySource {
  edition: Edition;
  load(): Promise<(deps: Deps) => AccessPolicy>;
}

const ENDED =
  "edition ended: addresses are no longer checked, custom roles grant and limit nothing, " +
  "and the compliance log records nothing";

/** The part of the access policy that is in force. */
type Scope = "all" | "protection" | "nothing";

/** Loads the policy on first use, because a license can be installed at any time. */
export function createCurrentAccessPolicy(
  deps: Deps,
  { edition, load }: AccessPolicySource,
): CurrentAccessPolicy {
  const { license, log } = deps;
  let policies: Record<Exclude<Scope, "nothing">, AccessPolicy> | undefined;
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
    return policies?.[scope] ?? loadPolicy(scope);
  };

  async function loadPolicy(wanted: Exclude<Scope, "nothing">): Promise<AccessPolicy> {
    await (loading ??= loadPolicies());
    return policies![wanted];
  }

  async function loadPolicies(): Promise<void> {
    try {
      const all = (await load())(deps);
      policies = { all, protection: withoutRoles(all) };
    } finally {
      loading = undefined;
    }
  }
}

const withoutRoles = (policy: AccessPolicy): AccessPolicy => ({
  ...policy,
  hasCustomRoles: false,
  grants: () => false,
  includesRightsOf: () => false,
});
