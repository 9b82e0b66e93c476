/**
 * The `custom_roles` table, and the permissions of each role in `custom_role_permissions`.
 *
 * @module
 */

import { json, number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

const shown = {
  id: text(),
  name: text(),
  description: text(),
  priority: number(),
  /** Patterns of names of hosts that users of the role are limited to; `null` for all. */
  hosts: json<string[] | null>(),
  /** Labels of hosts, of which one has to match; `null` for all. */
  host_labels: json<string[] | null>(),
  created_at: text(),
  updated_at: text(),
};

const roles = table("custom_roles", {
  ...shown,
  /** The name in the form used for comparison. Unique. */
  name_key: text(),
});

type StoredRole = Row<typeof roles>;

/** A role with its counts. Times are ISO 8601, UTC. */
export interface CountedRole extends Omit<StoredRole, "name_key"> {
  /** Number of pairs of resource and action. */
  permission_count: number;
  user_count: number;
}

/** An action on a resource. `*` stands for all resources or all actions. */
export interface Permission {
  resource: string;
  action: string;
}

export const {
  count: countRoles,
  insert: insertRole,
  /** Deletes a role, with its permissions and assignments. */
  delete: deleteRole,
} = roles;

const shownRoles = table("custom_roles", shown);

const SELECT = `
  SELECT ${shownRoles.columns},
    (SELECT count(*) FROM custom_role_permissions WHERE role_id = id) AS permission_count,
    (SELECT count(*) FROM custom_role_assignments WHERE role_id = id) AS user_count
  FROM custom_roles`;

type CountedRow = Record<string, string | number | null>;

const toCounted = (row: CountedRow): CountedRole => shownRoles.fromRow(row) as CountedRole;

/** By priority, highest first, then by name. */
export function selectRoles(db: Database, page: Page): CountedRole[] {
  return db.all<CountedRow>(
    `${SELECT} ORDER BY priority DESC, name_key, id LIMIT :limit OFFSET :offset`,
    { ...page },
  ).map(toCounted);
}

/** One role, or `undefined` when the id is unknown. */
export function selectRole(db: Database, id: string): CountedRole | undefined {
  const row = db.get<CountedRow>(`${SELECT} WHERE id = :id`, { id });
  return row && toCounted(row);
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

export function updateRole(db: Database, role: Omit<StoredRole, "created_at">): void {
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
