/**
 * The `custom_role_assignments` table: the custom roles of users, and the permissions that they
 * give.
 *
 * @module
 */

import { json, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";
import { LIMITED_TO_HOSTS } from "../users.ts";
import type { Permission } from "./roles.ts";

const assignments = table("custom_role_assignments", {
  user_id: text(),
  role_id: text(),
  /** ISO 8601, UTC. */
  assigned_at: text(),
  /** Id of a user, who may have been deleted. */
  assigned_by: text(),
});

/** One assignment as stored. */
export type RoleAssignment = Row<typeof assignments>;

/** A user who has a role. */
export interface RoleUser extends Omit<RoleAssignment, "role_id"> {
  /** `null` for a user without an account (`key`, `metrics`). */
  email: string | null;
}

export const { insert: insertRoleAssignment } = assignments;

/** The users who have a role, last assigned first. */
export function selectRoleUsers(db: Database, roleId: string, page: Page): RoleUser[] {
  return db.all<RoleUser>(
    `SELECT user_id, email, assigned_at, assigned_by
     FROM custom_role_assignments LEFT JOIN users ON users.id = user_id
     WHERE role_id = :roleId
     ORDER BY assigned_at DESC, user_id LIMIT :limit OFFSET :offset`,
    { roleId, ...page },
  );
}

/** One assignment, or `undefined` when the user does not have the role. */
export function selectRoleAssignment(
  db: Database,
  roleId: string,
  userId: string,
): RoleAssignment | undefined {
  return assignments.selectOne(db, "WHERE user_id = :userId AND role_id = :roleId", {
    userId,
    roleId,
  });
}

/** Names of the roles that a user has: by priority, highest first, then by name. */
export function selectRoleNamesOfUser(db: Database, userId: string): string[] {
  return db.all<{ name: string }>(
    `SELECT name
     FROM custom_role_assignments JOIN custom_roles ON custom_roles.id = role_id
     WHERE user_id = :userId
     ORDER BY priority DESC, name_key, id`,
    { userId },
  ).map(({ name }) => name);
}

/**
 * The permissions that the roles of a user grant, each once, in no particular order.
 *
 * @param roleIds Roles that count; default: all of the user.
 */
export function selectPermissionsOfUser(
  db: Database,
  userId: string,
  roleIds?: readonly string[],
): Permission[] {
  return db.all<Permission>(
    `SELECT DISTINCT resource, action
     FROM custom_role_assignments JOIN custom_role_permissions USING (role_id)
     WHERE user_id = :userId
       AND (:roleIds IS NULL OR role_id IN (SELECT value FROM json_each(:roleIds)))`,
    { userId, roleIds: roleIds ? JSON.stringify(roleIds) : null },
  );
}

const limits = table("custom_roles", {
  id: text(),
  hosts: json<string[] | null>(),
  hostLabels: json<string[] | null>(),
});

/** Hosts that a role limits its users to. */
export type RoleLimits = Row<typeof limits>;

/** The limits of the roles of a user, also of those without. */
export function selectHostLimitsOfUser(db: Database, userId: string): RoleLimits[] {
  return limits.select(
    db,
    "WHERE id IN (SELECT role_id FROM custom_role_assignments WHERE user_id = :userId)",
    { userId },
  );
}

/** Whether an admin of the accounts has no role that limits them to hosts. */
export function hasUnlimitedAdmin(db: Database): boolean {
  return db.get(
    `SELECT 1 FROM users
     WHERE role = 'admin' AND is_refused = 0 AND id NOT IN (${LIMITED_TO_HOSTS}) LIMIT 1`,
  ) !== undefined;
}

/** @returns Whether the user had the role. */
export function deleteRoleAssignment(db: Database, roleId: string, userId: string): boolean {
  return db.run(
    "DELETE FROM custom_role_assignments WHERE user_id = :userId AND role_id = :roleId",
    { userId, roleId },
  ) > 0;
}
