/**
 * The guard of Enterprise: IP allowlist, custom roles and compliance log, for every request. It also
 * has the active brand shown, from the first request on.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import type { AccessPolicy } from "../access_policy.ts";
import { showActiveBrand } from "./branding/brands.ts";
import { recordObservation } from "./compliance/recording.ts";
import { assertAddressAllowed, isAddressAllowed } from "./ip_allowlist/allowlist.ts";
import { includesRightsOf, isGranted } from "./roles/check.ts";

export function createGuard(deps: Deps): AccessPolicy {
  showActiveBrand(deps);
  return {
    admit: (address, caller) => assertAddressAllowed(deps, address, caller),
    admits: (caller) => isAddressAllowed(deps, caller),
    hasCustomRoles: true,
    grants: (userId, permission) => isGranted(deps, userId, permission),
    includesRightsOf: (caller, userId) => includesRightsOf(deps, caller, userId),
    record: (observation) => recordObservation(deps, observation),
  };
}
