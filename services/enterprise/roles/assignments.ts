/**
 * Assignments of custom roles to users. A caller can only assign or remove a role whose permissions
 * the caller has.
 *
 * @module
 */

import {
  deleteRoleAssignment,
  insertRoleAssignment,
  type RoleAssignment,
  type RoleUser,
  selectRoleAssignment,
  selectRoleUsers,
} from "../../../db/enterprise/role_assignments.ts";
import type { Page, Paged } from "../../../db/page.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { knownUserRole } from "./known_users.ts";
import {
  assertHasPermissions,
  assertMayLimit,
  assertUnlimitedAdmin,
  limitsHosts,
} from "./check.ts";
import { ungroupPermissions } from "./permissions.ts";
import { getRole } from "./roles.ts";

/** Lists the users who have a role, latest assignment first. @throws {AppError} `not_found`. */
export function listRoleUsers(
  deps: Pick<Deps, "db">,
  roleId: string,
  page: Page,
): { users: RoleUser[] } & Paged {
  const { user_count } = getRole(deps, roleId);
  const users = selectRoleUsers(deps.db, roleId, page);
  return { users, total: user_count, ...page };
}

/**
 * Assigns a role to a user, effective from their next request. Assigning it again changes nothing.
 *
 * @returns The assignment; `changed` is whether it is new.
 * @throws {AppError} `not_found` for an unknown role or user; `forbidden` for a role with a
 * permission that the caller lacks, and for one that is limited to hosts unless the caller is an admin;
 * `conflict` if every admin would be limited to hosts.
 */
export function assignRole(
  deps: Pick<Deps, "config" | "db" | "now" | "log">,
  caller: Caller,
  roleId: string,
  userId: string,
): RoleAssignment & { changed: boolean } {
  const { db, now, log } = deps;
  const role = getRole(deps, roleId);
  assertHasPermissions(deps, caller, ungroupPermissions(role.permissions));
  assertMayLimit(caller, role);
  knownUserRole(deps, userId);
  const assigned = selectRoleAssignment(db, roleId, userId);
  if (assigned) return { ...assigned, changed: false };

  const assignment: RoleAssignment = {
    user_id: userId,
    role_id: roleId,
    assigned_at: now().toISOString(),
    assigned_by: caller.userId,
  };
  db.transaction(() => {
    insertRoleAssignment(db, assignment);
    if (limitsHosts(role)) assertUnlimitedAdmin(deps);
  });
  log.info("custom role assigned", { roleId, userId, by: caller.userId });
  return { ...assignment, changed: true };
}

/**
 * Removes a role from a user, effective from their next request.
 *
 * @throws {AppError} `not_found` for an unknown role and for a user who does not have it;
 * `forbidden` for a role with a permission that the caller lacks.
 */
export function unassignRole(
  deps: Pick<Deps, "db" | "log">,
  caller: Caller,
  roleId: string,
  userId: string,
): void {
  const { db, log } = deps;
  const role = getRole(deps, roleId);
  assertHasPermissions(deps, caller, ungroupPermissions(role.permissions));
  assertMayLimit(caller, role);
  if (!deleteRoleAssignment(db, roleId, userId)) {
    throw new AppError("not_found", `User ${userId} does not have the role ${role.name}`);
  }
  log.info("custom role unassigned", { roleId, userId, by: caller.userId });
}
