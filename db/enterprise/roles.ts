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
  /** Pairs of resource and action. */
  permission_count: number;
  user_count: number;
}

/** What a role grants: an action on a resource; `*` stands for every one. */
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

/** The id of the role that has a name, however it is written. */
export function selectRoleIdByName(db: Database, nameKey: string): string | undefined {
  return db.get<{ id: string }>(
    "SELECT id FROM custom_roles WHERE name_key = :nameKey",
    { nameKey },
  )?.id;
}

export function countRoles(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM custom_roles")!.n;
}

/** What a role grants, in no particular order. */
export function selectPermissionsOfRole(db: Database, roleId: string): Permission[] {
  return db.all<Permission>(
    "SELECT resource, action FROM custom_role_permissions WHERE role_id = :roleId",
    { roleId },
  );
}

/** @param role With `name_key`: the name as it is compared. Unique. */
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

/** Makes these what a role grants, and nothing else. Each pair once. */
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

/** Deletes a role with its permissions and assignments. */
export function deleteRole(db: Database, id: string): void {
  db.run("DELETE FROM custom_roles WHERE id = :id", { id });
}
