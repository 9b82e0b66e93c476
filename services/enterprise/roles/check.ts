/**
 * Permission checks: a user has the permissions of the base role and those of the custom roles. Every
 * check reads the database, so that a change is effective from the next request.
 *
 * @module
 */

import {
  selectPermissionsOfUser,
  selectRoleNamesOfUser,
} from "../../../db/enterprise/role_assignments.ts";
import { type Caller, includesRole, type Role } from "../../access/caller.ts";
import {
  leastRole,
  parsePermission,
  type Permission,
  permissionName,
} from "../../access/permissions.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { knownUserRole } from "./known_users.ts";
import { groupPermissions, includesPermission } from "./permissions.ts";

/** Whether a custom role of a user grants a permission, e.g. `containers:start`. */
export function isGranted({ db }: Pick<Deps, "db">, userId: string, permission: string): boolean {
  const need = parsePermission(permission);
  return selectPermissionsOfUser(db, userId).some((have) => includesPermission(have, need));
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
