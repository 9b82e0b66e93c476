/**
 * Who has which custom role. Nobody assigns, or takes away, a role that can do what they cannot.
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
} from "../../db/enterprise/role_assignments.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { knownUserRole } from "./known_users.ts";
import { assertHas } from "./permission_check.ts";
import { ungroup } from "./permissions.ts";
import { getRole } from "./roles.ts";

export type { RoleUser };

/** Those who have a role, assigned last first. @throws {AppError} `not_found`. */
export function listRoleUsers(
  deps: Pick<Deps, "db">,
  roleId: string,
  { limit, offset }: { limit: number; offset: number },
): { users: RoleUser[]; total: number; limit: number; offset: number } {
  const { user_count } = getRole(deps, roleId);
  const users = selectRoleUsers(deps.db, roleId, { limit, offset });
  return { users, total: user_count, limit, offset };
}

/**
 * Gives somebody a role; it holds at their next request. Whoever has it keeps it as it is.
 *
 * @returns The assignment, and whether it is a new one.
 * @throws {AppError} `not_found` for an unknown role or user; `forbidden` for a role that can do
 * what the caller cannot.
 */
export function assignRole(
  deps: Pick<Deps, "config" | "db" | "now" | "log">,
  caller: Caller,
  roleId: string,
  userId: string,
): RoleAssignment & { changed: boolean } {
  const { db, now, log } = deps;
  const role = getRole(deps, roleId);
  assertHas(deps, caller, ungroup(role.permissions));
  knownUserRole(deps, userId);
  const assigned = selectRoleAssignment(db, roleId, userId);
  if (assigned) return { ...assigned, changed: false };

  const assignment: RoleAssignment = {
    user_id: userId,
    role_id: roleId,
    assigned_at: now().toISOString(),
    assigned_by: caller.userId,
  };
  insertRoleAssignment(db, assignment);
  log.info("custom role assigned", { roleId, userId, by: caller.userId });
  return { ...assignment, changed: true };
}

/**
 * Takes a role from somebody; it holds at their next request.
 *
 * @throws {AppError} `not_found` for an unknown role and for a user who does not have it;
 * `forbidden` for a role that can do what the caller cannot.
 */
export function unassignRole(
  deps: Pick<Deps, "db" | "log">,
  caller: Caller,
  roleId: string,
  userId: string,
): void {
  const { db, log } = deps;
  const role = getRole(deps, roleId);
  assertHas(deps, caller, ungroup(role.permissions));
  if (!deleteRoleAssignment(db, roleId, userId)) {
    throw new AppError("not_found", `User ${userId} does not have the role ${role.name}`);
  }
  log.info("custom role taken away", { roleId, userId, by: caller.userId });
}
