/**
 * What somebody may do: what the base role allows, plus what the custom roles grant. Asked of the
 * database each time, so that a change holds at the very next request.
 *
 * @module
 */

import {
  hasPermission,
  selectPermissionsOfUser,
  selectRoleNamesOfUser,
} from "../../db/enterprise/role_assignments.ts";
import { type Caller, includesRole, type Role } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { knownUserRole } from "./known_users.ts";
import {
  group,
  includesPermission,
  leastRole,
  parsePermission,
  type Permission,
  permissionName,
} from "./permissions.ts";

/** Whether a custom role of somebody grants what an endpoint declares, e.g. `containers:start`. */
export function isGranted({ db }: Pick<Deps, "db">, userId: string, permission: string): boolean {
  return hasPermission(db, userId, parsePermission(permission));
}

/**
 * Whether custom roles give somebody nothing that the caller lacks. Whoever manages the logins of
 * others could otherwise take over one that has more rights.
 */
export function includesRightsOf(
  { db }: Pick<Deps, "db">,
  caller: Pick<Caller, "userId" | "role">,
  userId: string,
): boolean {
  return firstMissing({ db }, caller, selectPermissionsOfUser(db, userId)) === undefined;
}

/**
 * Refuses to let rights pass through the hands of somebody who does not have them.
 *
 * @throws {AppError} `forbidden`, naming the first permission that the caller lacks.
 */
export function assertHas(
  deps: Pick<Deps, "db">,
  caller: Pick<Caller, "userId" | "role">,
  permissions: readonly Permission[],
): void {
  const missing = firstMissing(deps, caller, permissions);
  if (!missing) return;
  throw new AppError(
    "forbidden",
    `A role with the permission ${
      permissionName(missing)
    } is only for those who have it themselves`,
  );
}

/** What somebody may do, as far as it was asked. */
export interface PermissionCheck {
  user_id: string;
  /** Names of the custom roles: by priority, highest first, then by name. */
  roles: string[];
  /** What the custom roles grant: resource to actions. */
  permissions: Record<string, string[]>;
  /** By base role or custom roles; `null` unless asked about a resource and an action. */
  has_permission: boolean | null;
}

/** @throws {AppError} `not_found` for an unknown user. */
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
      group(granted).map(({ resource, actions }) => [resource, actions]),
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
