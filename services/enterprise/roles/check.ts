/**
 * What somebody may do: what the base role allows plus what the custom roles grant. The database is
 * asked each time, so a change holds for the very next request.
 *
 * @module
 */

import {
  hasPermission,
  selectPermissionsOfUser,
  selectRoleNamesOfUser,
} from "../../../db/enterprise/role_assignments.ts";
import { type Caller, includesRole, type Role } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { knownUserRole } from "./known_users.ts";
import {
  groupPermissions,
  includesPermission,
  leastRole,
  parsePermission,
  type Permission,
  permissionName,
} from "./permissions.ts";

/** Whether a custom role of a user grants a permission, e.g. `containers:start`. */
export function isGranted({ db }: Pick<Deps, "db">, userId: string, permission: string): boolean {
  return hasPermission(db, userId, parsePermission(permission));
}

/**
 * Whether the caller may do everything that the custom roles of a user grant. If not, the caller must
 * not manage that user: with a new password for somebody, one can log in as them.
 */
export function includesRightsOf(
  { db }: Pick<Deps, "db">,
  caller: Pick<Caller, "userId" | "role">,
  userId: string,
): boolean {
  return firstMissing({ db }, caller, selectPermissionsOfUser(db, userId)) === undefined;
}

/**
 * Refuses a caller who lacks one of the permissions: nobody hands out what they do not have.
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
    `A role with the permission ${name} is only for those who have it themselves`,
  );
}

/** What a user may do. */
export interface PermissionCheck {
  user_id: string;
  /** Names of the custom roles: by priority, highest first, then by name. */
  roles: string[];
  /** What the custom roles grant: resource to actions. */
  permissions: Record<string, string[]>;
  /** By base role and custom roles together; `null` unless a resource and an action were asked for. */
  has_permission: boolean | null;
}

/**
 * Tells what the custom roles of a user grant; for a resource and an action also whether the user has
 * that permission.
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
  const asked = resource !== undefined && action !== undefined;
  return {
    user_id: userId,
    roles: selectRoleNamesOfUser(db, userId),
    permissions: Object.fromEntries(
      groupPermissions(granted).map(({ resource, actions }) => [resource, actions]),
    ),
    has_permission: asked ? has(role, granted, { resource, action }) : null,
  };
}

function firstMissing(
  { db }: Pick<Deps, "db">,
  { userId, role }: Pick<Caller, "userId" | "role">,
  permissions: readonly Permission[],
): Permission | undefined {
  const granted = selectPermissionsOfUser(db, userId);
  return permissions.find((permission) => !has(role, granted, permission));
}

const has = (role: Role, granted: readonly Permission[], need: Permission): boolean =>
  includesRole(role, leastRole(need)) || granted.some((have) => includesPermission(have, need));
