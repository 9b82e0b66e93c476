/**
 * Permission checks: a user has the permissions of the base role and those of the custom roles. Every
 * check reads the database, so that a change is effective from the next request.
 *
 * @module
 */

import {
  hasUnlimitedAdmin,
  selectHostLimitsOfUser,
  selectPermissionsOfUser,
  selectRoleNamesOfUser,
} from "../../../db/enterprise/role_assignments.ts";
import { KEY_USER } from "../../access/accounts.ts";
import { type Caller, includesRole, type Role } from "../../access/caller.ts";
import { matchesLimits } from "../../access/host_scope.ts";
import {
  leastRole,
  parsePermission,
  type Permission,
  permissionName,
} from "../../access/permissions.ts";
import type { HostLimits, ScopedHost } from "../../access/scope.ts";
import { signInMode } from "../../access/sign_in/mode.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { knownUserRole } from "./known_users.ts";
import { groupPermissions, includesPermission } from "./permissions.ts";

/**
 * Whether a custom role of a user grants a permission, e.g. `containers:start`.
 *
 * @param host Host of the fleet where it is needed; default: at any.
 */
export function isGranted(
  { db }: Pick<Deps, "db">,
  userId: string,
  permission: string,
  host?: ScopedHost,
): boolean {
  const need = parsePermission(permission);
  const roleIds = host && selectHostLimitsOfUser(db, userId)
    .filter((limits) => matchesLimits(limits, host)).map(({ id }) => id);
  return selectPermissionsOfUser(db, userId, roleIds)
    .some((have) => includesPermission(have, need));
}

/**
 * The hosts that custom roles limit a user to, of which one has to match; `undefined` without any.
 * Roles that are not limited grant their permissions, and do not show further hosts.
 */
export function hostLimitsOf(
  { db }: Pick<Deps, "db">,
  userId: string,
): readonly HostLimits[] | undefined {
  const limited = selectHostLimitsOfUser(db, userId)
    .filter(({ hosts, hostLabels }) => hosts !== null || hostLabels !== null);
  return limited.length > 0
    ? limited.map(({ hosts, hostLabels }) => ({ hosts, hostLabels }))
    : undefined;
}

/**
 * Refuses a change of a role that limits its users to hosts to a caller who is not an admin: it takes
 * rights away from users whom the caller may not manage.
 *
 * @throws {AppError} `forbidden`
 */
export function assertMayLimit(
  { role: ofCaller }: Pick<Caller, "role">,
  ...roles: readonly RoleHosts[]
): void {
  if (!roles.some(limitsHosts) || includesRole(ofCaller, "admin")) return;
  throw new AppError("forbidden", "Only admins manage roles that are limited to hosts");
}

/** The limits of a role, as the API has them. */
export interface RoleHosts {
  hosts?: readonly string[] | null | undefined;
  host_labels?: readonly string[] | null | undefined;
}

export const limitsHosts = ({ hosts, host_labels }: RoleHosts): boolean =>
  (hosts ?? null) !== null || (host_labels ?? null) !== null;

/**
 * Called in the transaction of the change.
 *
 * @throws {AppError} `conflict` if every admin would be limited to hosts.
 */
export function assertUnlimitedAdmin({ config, db }: Pick<Deps, "config" | "db">): void {
  const isKeyMode = signInMode(db, config) === "key";
  if (isKeyMode ? !hostLimitsOf({ db }, KEY_USER) : hasUnlimitedAdmin(db)) return;
  throw new AppError("conflict", "At least one admin must not be limited to hosts");
}

/**
 * Whether the caller has every permission that the custom roles of a user grant. If not, the caller
 * must not manage that user: who can set a user's password can log in as that user.
 */
export function includesRightsOf(
  { db }: Pick<Deps, "db">,
  caller: Pick<Caller, "userId" | "role">,
  userId: string,
): boolean {
  return firstMissing({ db }, caller, selectPermissionsOfUser(db, userId)) === undefined;
}

/**
 * Refuses a caller who lacks one of the permissions, because callers must not grant permissions that
 * they do not have.
 *
 * @throws {AppError} `forbidden`, naming the first permission that the caller lacks.
 */
export function assertHasPermissions(
  deps: Pick<Deps, "db">,
  caller: Pick<Caller, "userId" | "role">,
  permissions: readonly Permission[],
): void {
  const missing = firstMissing(deps, caller, permissions);
  if (!missing) return;
  const name = permissionName(missing);
  throw new AppError(
    "forbidden",
    `Cannot manage a role with the permission ${name}: you do not have this permission`,
  );
}

interface PermissionCheck {
  user_id: string;
  /** Names of the custom roles: by priority, highest first, then by name. */
  roles: string[];
  /** Actions by resource that the custom roles grant. */
  permissions: Record<string, string[]>;
  /** By base role and custom roles; `null` unless a resource and an action were given. */
  has_permission: boolean | null;
}

/**
 * Returns the permissions that the custom roles of a user grant and, for a resource and an action,
 * whether the user has that permission.
 *
 * @throws {AppError} `not_found` for an unknown user.
 */
export function checkPermission(
  deps: Pick<Deps, "config" | "db">,
  userId: string,
  { resource, action }: { resource?: string | undefined; action?: string | undefined },
): PermissionCheck {
  const { db } = deps;
  const role = knownUserRole(deps, userId);
  const granted = selectPermissionsOfUser(db, userId);
  const isPair = resource !== undefined && action !== undefined;
  return {
    user_id: userId,
    roles: selectRoleNamesOfUser(db, userId),
    permissions: Object.fromEntries(
      groupPermissions(granted).map(({ resource, actions }) => [resource, actions]),
    ),
    has_permission: isPair ? isIncluded(role, granted, { resource, action }) : null,
  };
}

function firstMissing(
  { db }: Pick<Deps, "db">,
  { userId, role }: Pick<Caller, "userId" | "role">,
  permissions: readonly Permission[],
): Permission | undefined {
  const granted = selectPermissionsOfUser(db, userId);
  return permissions.find((permission) => !isIncluded(role, granted, permission));
}

const isIncluded = (role: Role, granted: readonly Permission[], need: Permission): boolean =>
  includesRole(role, leastRole(need)) || granted.some((have) => includesPermission(have, need));
