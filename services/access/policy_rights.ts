/** The rights that the access policy gives to callers: of a request, and of what a user has left to do. @module */

import { selectApiToken } from "../../db/api_tokens.ts";
import type { Deps } from "../deps.ts";
import { callerOf } from "./accounts.ts";
import type { Caller } from "./caller.ts";
import { withRoleLimits } from "./host_scope.ts";
import { permissionName, PERMISSIONS } from "./permissions.ts";
import type { AccessPolicy } from "./policy.ts";
import type { ScopedHost } from "./scope.ts";

/** Lets handlers ask the policy about the caller. */
export function withRights(caller: Caller, policy: AccessPolicy): Caller {
  const limited = withRoleLimits(caller, policy.hostLimits(caller.userId));
  return {
    ...limited,
    rights: {
      grants: (permission, host) => policy.grants(caller.userId, permission, host),
      hostLimits: () => policy.hostLimits(caller.userId),
      includeThoseOf: (userId) => policy.includesRightsOf(caller, userId),
      isAdmitted: () => policy.admits(caller),
    },
  };
}

/**
 * Permissions of a user's custom roles, e.g. `containers:start`; `*` is expanded.
 *
 * @param host Host of the fleet where they count; default: at any.
 */
export function permissionsOfRoles(
  policy: AccessPolicy | undefined,
  userId: string,
  host?: ScopedHost,
): string[] {
  if (!policy?.hasCustomRoles) return [];
  return PERMISSIONS.map(permissionName).filter((each) => policy.grants(userId, each, host));
}

/** The part of the access policy that limits callers to hosts. */
export type HostPolicy = Pick<AccessPolicy, "hostLimits">;

/** A user, or their API token, for whom something is done later. */
export interface AbsentUser {
  userId: string;
  tokenId: string | null;
}

/**
 * The caller that a user would be now, with the limits of their custom roles. They have no address.
 *
 * @returns `undefined` if the user or the API token was deleted or has expired.
 */
export function callerOfAbsent(
  { accounts, db }: Pick<Deps, "accounts" | "db">,
  policy: HostPolicy | undefined,
  { userId, tokenId }: AbsentUser,
): Caller | undefined {
  const token = tokenId === null ? undefined : selectApiToken(db, tokenId);
  if (tokenId !== null && !token) return undefined;
  const apiToken = token && { id: token.id, name: token.name, hash: token.tokenHash };
  const caller = callerOf(accounts, { userId, familyId: "", ...(apiToken && { apiToken }) }, "");
  return caller && withRoleLimits(caller, policy?.hostLimits(userId));
}
