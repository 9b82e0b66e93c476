/**
 * Custom roles: named sets of permissions that are assigned to users.
 *
 * A caller can only create, change or delete a role whose permissions the caller has; otherwise the
 * permission to write roles would include every other one. This covers renaming, because a powerful
 * role with a harmless name would be assigned to the wrong users.
 *
 * @module
 */

import {
  type CountedRole,
  countRoles,
  deleteRole,
  insertRole,
  replacePermissions,
  selectPermissionsOfRole,
  selectRole,
  selectRoleIdByName,
  selectRoles,
  updateRole,
} from "../../../db/enterprise/roles.ts";
import type { Page, Paged } from "../../../db/page.ts";
import type { Caller } from "../../access/caller.ts";
import type { Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import {
  assertHasPermissions,
  assertMayLimit,
  assertUnlimitedAdmin,
  limitsHosts,
} from "./check.ts";
import { groupPermissions, type PermissionGroup, ungroupPermissions } from "./permissions.ts";

/** A role with its permissions. */
interface RoleDetail extends CountedRole {
  permissions: PermissionGroup[];
}

interface NewRole {
  name: string;
  description: string;
  /** Sort key of lists, highest first. It has no other effect. */
  priority: number;
  permissions: PermissionGroup[];
  /** Patterns of names of hosts that its users are limited to; `null` for all. */
  hosts: string[] | null;
  /** Labels of hosts, of which one has to match; `null` for all. */
  host_labels: string[] | null;
}

export const ROLES_MAX = 1_000;

/** Lists roles by priority, highest first, then by name. */
export function listRoles({ db }: Pick<Deps, "db">, page: Page): { roles: CountedRole[] } & Paged {
  return { roles: selectRoles(db, page), total: countRoles(db), ...page };
}

/** @throws {AppError} `not_found`. */
export function getRole({ db }: Pick<Deps, "db">, id: string): RoleDetail {
  const role = requireFound(selectRole(db, id), "Role", id);
  return { ...role, permissions: groupPermissions(selectPermissionsOfRole(db, id)) };
}

/**
 * Stores a new role.
 *
 * @throws {AppError} `forbidden` for a permission that the caller lacks; `conflict` for a name in
 * use and at the limit of {@linkcode ROLES_MAX}.
 */
export function createRole(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  { permissions, ...role }: NewRole,
): RoleDetail {
  const { db, now, log } = deps;
  const pairs = ungroupPermissions(permissions);
  assertHasPermissions(deps, caller, pairs);
  assertMayLimit(caller, role);
  if (countRoles(db) >= ROLES_MAX) throw tooMany("roles", ROLES_MAX);
  const id = crypto.randomUUID();
  assertNameFree(db, role.name, id);
  const at = now().toISOString();
  db.transaction(() => {
    insertRole(db, {
      ...role,
      id,
      name_key: roleNameKey(role.name),
      created_at: at,
      updated_at: at,
    });
    replacePermissions(db, id, pairs);
  });
  log.info("custom role created", { roleId: id, by: caller.userId });
  return getRole(deps, id);
}

/**
 * Changes the given fields of a role, effective from the next request of its users. Permissions are
 * replaced as a whole.
 *
 * @throws {AppError} `not_found`; `forbidden` for a permission, old or new, that the caller lacks;
 * `conflict` for a name in use.
 */
export function changeRole(
  deps: Pick<Deps, "config" | "db" | "now" | "log">,
  caller: Caller,
  id: string,
  change: Change<NewRole>,
): RoleDetail {
  const { db, now, log } = deps;
  const role = getRole(deps, id);
  const pairs = change.permissions && ungroupPermissions(change.permissions);
  assertHasPermissions(deps, caller, [...ungroupPermissions(role.permissions), ...pairs ?? []]);
  assertMayLimit(caller, role, change);
  const name = change.name ?? role.name;
  assertNameFree(db, name, id);
  const hosts = {
    hosts: change.hosts === undefined ? role.hosts : change.hosts,
    host_labels: change.host_labels === undefined ? role.host_labels : change.host_labels,
  };
  db.transaction(() => {
    updateRole(db, {
      id,
      name,
      name_key: roleNameKey(name),
      description: change.description ?? role.description,
      priority: change.priority ?? role.priority,
      ...hosts,
      updated_at: now().toISOString(),
    });
    if (pairs) replacePermissions(db, id, pairs);
    if (limitsHosts(hosts)) assertUnlimitedAdmin(deps);
  });
  log.info("custom role changed", { roleId: id, by: caller.userId });
  return getRole(deps, id);
}

/**
 * Deletes a role and its assignments.
 *
 * @throws {AppError} `not_found`; `forbidden` for a permission that the caller lacks.
 */
export function removeRole(deps: Pick<Deps, "db" | "log">, caller: Caller, id: string): void {
  const { db, log } = deps;
  const role = getRole(deps, id);
  assertHasPermissions(deps, caller, ungroupPermissions(role.permissions));
  assertMayLimit(caller, role);
  deleteRole(db, id);
  log.info("custom role deleted", { roleId: id, by: caller.userId });
}

/** Names are compared without case. */
/** The form of a name that is compared. */
export const roleNameKey = (name: string) => name.normalize("NFC").toLowerCase();

function assertNameFree(db: Deps["db"], name: string, id: string): void {
  const owner = selectRoleIdByName(db, roleNameKey(name));
  if (owner !== undefined && owner !== id) {
    throw new AppError("conflict", `A role named ${name} already exists`);
  }
}
