/** The caller that a note names, within what the member allows its hub. @module */

import { callerOfHub } from "../../access/accounts.ts";
import { type Caller, includesRole, type UserRole } from "../../access/caller.ts";
import { leastRole, parsePermission } from "../../access/permissions.ts";
import type { Config } from "../../config/config.ts";
import type { SignedNote } from "./note.ts";

/** Highest role of a hub's users by `FLEET_ALLOW`. */
export const ROLE_MAX = {
  read: "viewer",
  operate: "operator",
  admin: "admin",
} as const satisfies Record<Config["fleetAllow"], UserRole>;

/** @param hub Name of the hub, as the member knows it. */
export function callerOfNote(
  { fleetAllow, fleetTerminal }: Pick<Config, "fleetAllow" | "fleetTerminal">,
  hub: string,
  { hub: id, user, name, role, permissions, scope }: Pick<
    SignedNote,
    "hub" | "user" | "name" | "role" | "permissions" | "scope"
  >,
): Caller {
  const roleMax = ROLE_MAX[fleetAllow];
  // Of another form than ids of users here, so that nothing of them is taken for the hub's.
  return callerOfHub(`hub/${id}/${user}`, {
    ...{ id, name: hub, user: name },
    role: includesRole(roleMax, role) ? role : roleMax,
    roleMax,
    ...(scope && { scope }),
    permissions: permissions.filter((each) =>
      includesRole(roleMax, leastRole(parsePermission(each)))
    ),
    mayRunPrograms: mayRunPrograms({ fleetAllow, fleetTerminal }),
  });
}

/** Whether admins of the hub may run commands and open terminals. */
export const mayRunPrograms = (
  { fleetAllow, fleetTerminal }: Pick<Config, "fleetAllow" | "fleetTerminal">,
): boolean => fleetTerminal === "on" && fleetAllow === "admin";
