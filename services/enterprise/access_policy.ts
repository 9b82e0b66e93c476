/**
 * The access policy of the Enterprise edition: IP allowlist, custom roles and compliance log.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import type { AccessPolicy } from "../access/policy.ts";
import { showActiveBrand } from "./branding/brands.ts";
import { recordObservation } from "./compliance/recording.ts";
import { createAddressCheck } from "./ip_allowlist/allowlist.ts";
import { hostLimitsOf, includesRightsOf, isGranted } from "./roles/check.ts";
import { createGroupRoleStore } from "./roles/group_roles.ts";
import { listSignInProviders } from "./sso/providers.ts";

/**
 * Creates the policy, and shows the active brand, the identity providers and the custom roles, because
 * the first request may need them.
 */
export function createAccessPolicy(deps: Deps): AccessPolicy {
  showActiveBrand(deps);
  deps.signInProviders.readWith(() => listSignInProviders(deps));
  deps.groupRoles.storeWith(createGroupRoleStore(deps));
  const addresses = createAddressCheck(deps);
  return {
    admit: addresses.assertAllowed,
    admits: addresses.isAllowed,
    hasCustomRoles: true,
    grants: (userId, permission, host) => isGranted(deps, userId, permission, host),
    hostLimits: (userId) => hostLimitsOf(deps, userId),
    includesRightsOf: (caller, userId) => includesRightsOf(deps, caller, userId),
    record: (observation) => recordObservation(deps, observation),
  };
}
