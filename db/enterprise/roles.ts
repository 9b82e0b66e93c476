/**
 * The `custom_roles` table, and the permissions of each role in `custom_role_permissions`.
 *
 * @module
 */

import { type Columns, table } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

/** One role as stored. Times are ISO 8601, UTC. */
interface Role {
  id: string;
  name: string;
  description: string;
  priority: number;
  created_at: string;
  updated_at: string;
}

/** A role with its counts. */
export interface CountedRole extends Role {
  /** Number of pairs of resource and action. */
  permission_count: number;
  user_count: number;
}

/** An action on a resource. `*` stands for all resources or all actions. */
export interface Permission {
  resource: string;
  action: string;
}

const shown: Columns<Role> = {
  id: "value",
  name: "value",
  description: "value",
  priority: "value",
  created_at: "value",
  updated_at: "value",
};

const roles = table<Role & { name_key: string }>("custom_roles", { ...shown, name_key: "value" });

export const {
  count: countRoles,
  /** @param role `name_key` is the name in the form used for comparison; it is unique. */
  insert: insertRole,
  /** Deletes a role, with its permissions and assignments. */
  delete: deleteRole,
} = roles;

const SELECT = `
  SELECT ${table("custom_roles", shown).columns},
    (SELECT count(*) FROM custom_role_permissions WHERE role_id = id) AS permission_count,
    (SELECT count(*) FROM custom_role_assignments WHERE role_id = id) AS user_count
  FROM custom_roles`;

/** By priority, highest first, then by name. */
export function selectRoles(db: Database, page: Page): CountedRole[] {
  return db.all<CountedRole>(
    `${SELECT} ORDER BY priority DESC, name_key, id LIMIT :limit OFFSET :offset`,
    { ...page },
  );
}

/** One role, or `undefined` when the id is unknown. */
export function selectRole(db: Database, id: string): CountedRole | undefined {
  return db.get<CountedRole>(`${SELECT} WHERE id = :id`, { id });
}

/** @param nameKey The name in the form used for comparison. */
export function selectRoleIdByName(db: Database, nameKey: string): string | undefined {
  return db.get<{ id: string }>(
    "SELECT id FROM custom_roles WHERE name_key = :nameKey",
    { nameKey },
  )?.id;
}

/** The permissions of a role, in no particular order. */
export function selectPermissionsOfRole(db: Database, roleId: string): Permission[] {
  return db.all<Permission>(
    "SELECT resource, action FROM custom_role_permissions WHERE role_id = :roleId",
    { roleId },
  );
}

export function updateRole(
  db: Database,
  role: Omit<Role, "created_at"> & { name_key: string },
): void {
  roles.update(db, role.id, role);
}

/** Replaces the permissions of a role. @param permissions Each once. */
export function replacePermissions(
  db: Database,
  roleId: string,
  permissions: readonly Permission[],
): void {
  db.run("DELETE FROM custom_role_permissions WHERE role_id = :roleId", { roleId });
  for (const { resource, action } of permissions) {
    db.run(
      `INSERT INTO custom_role_permissions (role_id, resource, action)
       VALUES (:roleId, :resource, :action)`,
      { roleId, resource, action },
    );
  }
}
