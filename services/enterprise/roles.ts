/**
 * Custom roles: permissions under a name, to be assigned to users.
 *
 * Nobody brings a role about, or changes one, that can do what they cannot: otherwise the right to
 * write roles would be every right. That goes for renaming too: who takes a strong role for a weak
 * one assigns it.
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
} from "../../db/enterprise/roles.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { assertHas } from "./permission_check.ts";
import { group, type PermissionGroup, ungroup } from "./permissions.ts";

export type { CountedRole };

/** A role with what it grants. */
export interface RoleDetail extends CountedRole {
  permissions: PermissionGroup[];
}

export interface NewRole {
  name: string;
  description: string;
  /** Orders lists, highest first; it decides nothing else. */
  priority: number;
  permissions: PermissionGroup[];
}

/** What an update may say; what it leaves out stays. Permissions are replaced as a whole. */
export type RoleChange = { [Field in keyof NewRole]?: NewRole[Field] | undefined };

/** Most roles. Far more than anybody can keep apart. */
export const ROLES_MAX = 1_000;

/** By priority, highest first, then by name. */
export function listRoles(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { roles: CountedRole[]; total: number; limit: number; offset: number } {
  return { roles: selectRoles(db, { limit, offset }), total: countRoles(db), limit, offset };
}

/** @throws {AppError} `not_found`. */
export function getRole({ db }: Pick<Deps, "db">, id: string): RoleDetail {
  const role = selectRole(db, id);
  if (!role) throw notFound("Role", id);
  return { ...role, permissions: group(selectPermissionsOfRole(db, id)) };
}

/**
 * Stores a new role.
 *
 * @throws {AppError} `forbidden` for a permission that the caller lacks; `conflict` for a name
 * that another role has, or when there are too many roles.
 */
export function createRole(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  { permissions, ...role }: NewRole,
): RoleDetail {
  const { db, now, log } = deps;
  const pairs = ungroup(permissions);
  assertHas(deps, caller, pairs);
  if (countRoles(db) >= ROLES_MAX) {
    throw new AppError("conflict", `There are at most ${ROLES_MAX} roles`);
  }
  const id = crypto.randomUUID();
  assertNameFree(db, role.name, id);
  const at = now().toISOString();
  db.transaction(() => {
    insertRole(db, {
      ...role,
      id,
      name_key: nameKey(role.name),
      created_at: at,
      updated_at: at,
    });
    replacePermissions(db, id, pairs);
  });
  log.info("custom role created", { roleId: id, by: caller.userId });
  return getRole(deps, id);
}

/**
 * Changes what is given and keeps the rest. It holds at the next request of whoever has the role.
 *
 * @throws {AppError} `not_found`; `forbidden` for a permission, old or new, that the caller lacks;
 * `conflict` for a name that another role has.
 */
export function changeRole(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  id: string,
  change: RoleChange,
): RoleDetail {
  const { db, now, log } = deps;
  const role = getRole(deps, id);
  const pairs = change.permissions && ungroup(change.permissions);
  assertHas(deps, caller, [...ungroup(role.permissions), ...pairs ?? []]);
  const name = change.name ?? role.name;
  assertNameFree(db, name, id);
  db.transaction(() => {
    updateRole(db, {
      id,
      name,
      name_key: nameKey(name),
      description: change.description ?? role.description,
      priority: change.priority ?? role.priority,
      updated_at: now().toISOString(),
    });
    if (pairs) replacePermissions(db, id, pairs);
  });
  log.info("custom role changed", { roleId: id, by: caller.userId });
  return getRole(deps, id);
}

/**
 * Deletes a role and takes it from everybody who has it.
 *
 * @throws {AppError} `not_found`; `forbidden` for one that can do what the caller cannot.
 */
export function removeRole(
  deps: Pick<Deps, "db" | "log">,
  caller: Caller,
  id: string,
): void {
  const { db, log } = deps;
  const role = getRole(deps, id);
  assertHas(deps, caller, ungroup(role.permissions));
  deleteRole(db, id);
  log.info("custom role deleted", { roleId: id, by: caller.userId });
}

/** Names are told apart without case. */
const nameKey = (name: string) => name.normalize("NFC").toLowerCase();

function assertNameFree(db: Deps["db"], name: string, id: string): void {
  const owner = selectRoleIdByName(db, nameKey(name));
  if (owner !== undefined && owner !== id) {
    throw new AppError("conflict", `A role with the name ${name} exists already`);
  }
}
