/** Custom roles that the groups of an identity provider give to its users. @module */

import {
  deleteRoleAssignment,
  insertRoleAssignment,
  selectRoleAssignment,
} from "../../../db/enterprise/role_assignments.ts";
import { selectRole, selectRoleIdByName } from "../../../db/enterprise/roles.ts";
import { selectUser } from "../../../db/users.ts";
import type { GroupRoleStore } from "../../access/oidc/group_roles.ts";
import type { Deps } from "../../deps.ts";
import { limitsHosts } from "./check.ts";
import { roleNameKey } from "./roles.ts";

/** The assigner of roles that come from groups. */
const ASSIGNED_BY = "identity provider";

export function createGroupRoleStore(
  { accounts, db, log, now }: Pick<Deps, "accounts" | "db" | "log" | "now">,
): GroupRoleStore {
  /** Whether the role would leave this server without an admin who is not limited to hosts. */
  const limitsLastAdmin = (roleId: string, userId: string) =>
    limitsHosts(selectRole(db, roleId)!) && accounts.mode === "users" &&
    selectUser(db, userId)?.role === "admin" && !accounts.hasOtherAdmin(userId);
  const idOf = (name: string) => selectRoleIdByName(db, roleNameKey(name));
  return {
    has: (name) => idOf(name) !== undefined,
    set(userId, names, managed) {
      const given = new Set(names.map(idOf));
      for (const roleId of new Set(managed.map(idOf))) {
        if (roleId === undefined) continue;
        const has = selectRoleAssignment(db, roleId, userId) !== undefined;
        if (has === given.has(roleId)) continue;
        if (!has && limitsLastAdmin(roleId, userId)) {
          log.warn("last admin not limited to hosts by the identity provider", { roleId, userId });
          continue;
        }
        if (has) deleteRoleAssignment(db, roleId, userId);
        else {
          insertRoleAssignment(db, {
            user_id: userId,
            role_id: roleId,
            assigned_at: now().toISOString(),
            assigned_by: ASSIGNED_BY,
          });
        }
        log.info("custom role changed by identity provider", { roleId, userId, assigned: !has });
      }
    },
  };
}
