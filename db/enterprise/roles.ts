/**
 * The `custom_roles` table, with what each role grants in `custom_role_permissions`.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One role as stored. Times are ISO 8601, UTC. */
export interface Role {
  id: string;
  name: string;
  description: string;
  priority: number;
  created_at: string;
  updated_at: string;
}

/** A role in a list. */
export interface CountedRole extends Role {
  /** How many pairs of resource and action it has. */
  permission_count: number;
  user_count: number;
}

/** An action on a resource, which a role grants. `*` stands for every resource or every action. */
export interface Permission {
  resource: string;
  action: string;
}

const COLUMNS = `
  id, name, description, priority, created_at, updated_at,
  (SELECT count(*) FROM custom_role_permissions WHERE role_id = id) AS permission_count,
  (SELECT count(*) FROM custom_role_assignments WHERE role_id = id) AS user_count`;

/** By priority, highest first, then by name. */
export function selectRoles(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): CountedRole[] {
  return db.all<CountedRole>(
    `SELECT ${COLUMNS} FROM custom_roles
     ORDER BY priority DESC, name_key, id LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

/** One role, or `undefined` when the id is unknown. */
export function selectRole(db: Database, id: string): CountedRole | undefined {
  return db.get<CountedRole>(`SELECT ${COLUMNS} FROM custom_roles WHERE id = :id`, { id });
}

/** The id of the role with this name, or `undefined`. @param nameKey The name as it is compared. */
export function selectRoleIdByName(db: Database, nameKey: string): string | undefined {
  return db.get<{ id: string }>(
    "SELECT id FROM custom_roles WHERE name_key = :nameKey",
    { nameKey },
  )?.id;
}

export function countRoles(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM custom_roles")!.n;
}

/** The permissions of a role, in no particular order. */
export function selectPermissionsOfRole(db: Database, roleId: string): Permission[] {
  return db.all<Permission>(
    "SELECT resource, action FROM custom_role_permissions WHERE role_id = :roleId",
    { roleId },
  );
}

/** @param role `name_key` is the name as it is compared; it is unique. */
export function insertRole(db: Database, role: Role & { name_key: string }): void {
  db.run(
    `INSERT INTO custom_roles
       (id, name, name_key, description, priority, created_at, updated_at)
     VALUES (:id, :name, :name_key, :description, :priority, :created_at, :updated_at)`,
    { ...role },
  );
}

export function updateRole(
  db: Database,
  role: Omit<Role, "created_at"> & { name_key: string },
): void {
  db.run(
    `UPDATE custom_roles
     SET name = :name, name_key = :name_key, description = :description, priority = :priority,
       updated_at = :updated_at
     WHERE id = :id`,
    { ...role },
  );
}

/** Gives a role these permissions instead of those that it has. @param permissions Each once. */
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

/** Deletes a role, with its permissions and assignments. */
export function deleteRole(db: Database, id: string): void {
  db.run("DELETE FROM custom_roles WHERE id = :id", { id });
}
