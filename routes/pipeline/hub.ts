/** Limits of requests that a hub passed on, whatever its note says. @module */

import type { HubRef } from "../../services/access/caller.ts";
import { parsePermission } from "../../services/access/permissions.ts";
import { AppError } from "../../services/errors.ts";
import { type Endpoint, permissionsOf } from "../contract/endpoint.ts";

/** Accounts, tokens, identity, license and the fleet itself are changed on the host only. */
const OWN_PATHS =
  /^\/(auth|api\/(account|users|sessions|settings|setup|tokens|identity|fleet))(\/|$)/;

/** Resources of permissions that decide who may do what on the host. */
const OWN_RESOURCES = new Set([
  "users",
  "sso",
  "custom_roles",
  "ip_allowlist",
  "mtls",
  "encryption",
  "compliance",
]);

/**
 * Refuses a user of a hub what is never done through a link, and programs in containers without
 * `FLEET_TERMINAL=on`.
 *
 * @throws {AppError} `forbidden`
 */
export function assertHubAllowed(route: string, endpoint: Endpoint, hub: HubRef | undefined): void {
  if (!hub) return;
  if (isOwn(route, endpoint)) {
    throw new AppError("forbidden", "Not available through a hub; use the dashboard of this host");
  }
  if (!endpoint.runsPrograms || hub.mayRunPrograms) return;
  throw new AppError(
    "forbidden",
    "This host lets its hub run no programs; set FLEET_TERMINAL=on and FLEET_ALLOW=admin there",
  );
}

function isOwn(route: string, endpoint: Endpoint): boolean {
  const { loginOnly, method, role } = endpoint;
  if (loginOnly || OWN_PATHS.test(route)) return true;
  // Sign-in, and pages for visitors.
  if (role === "public" && route !== "/api/health") return true;
  // The license: users of the hub may read which edition the host has.
  if (method !== "get" && route.startsWith("/api/edition")) return true;
  return permissionsOf(endpoint).some((each) => OWN_RESOURCES.has(parsePermission(each).resource));
}
