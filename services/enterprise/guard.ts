/**
 * What Enterprise adds to every request: IP allowlist, custom roles, compliance log.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import type { Guard } from "../guard.ts";
import { recordObservation } from "./compliance_recording.ts";
import { assertAddressAllowed } from "./ip_allowlist.ts";
import { isGranted } from "./permission_check.ts";

export const createGuard = (deps: Deps): Guard => ({
  admit: (address, caller) => assertAddressAllowed(deps, address, caller),
  grants: (userId, permission) => isGranted(deps, userId, permission),
  record: (observation) => recordObservation(deps, observation),
});
