/**
 * Who calls.
 *
 * @module
 */

import { AppError } from "../errors.ts";

/** The roles that a user can have, from least to most. */
export const USER_ROLES = ["viewer", "operator", "admin"] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** Each role may do what the ones before it may. */
const ROLES = ["public", ...USER_ROLES] as const;
export type Role = (typeof ROLES)[number];

/** The party behind a request. */
export interface Caller {
  /** `"key"` in key mode, empty for someone without a token. */
  userId: string;
  role: Role;
  /** The login that the token belongs to; empty without one. */
  familyId: string;
  /** When its token ends, in Unix milliseconds; missing where there is none (a ticket). */
  expiresAtMs?: number;
  /** Address of the client, as seen behind trusted proxies. */
  address: string;
  /** What an edition adds to the role; missing without that edition. */
  rights?: Rights;
}

/** What is known of a caller beyond their role. Asked anew each time. */
export interface Rights {
  /** Whether it is granted, e.g. `containers:start`. */
  grants(permission: string): boolean;
  /** Whether somebody else has nothing beyond their role that this caller lacks. */
  includeThoseOf(userId: string): boolean;
  /** Whether their address is still let in. */
  isAdmitted(): boolean;
}

/** Whether `have` includes what `need` asks for. */
export function includesRole(have: Role, need: Role): boolean {
  return ROLES.indexOf(have) >= ROLES.indexOf(need);
}

/** Whether the role allows something, or a custom role grants it. */
export function mayDo(caller: Caller, need: Role, permission: string): boolean {
  return includesRole(caller.role, need) || caller.rights?.grants(permission) === true;
}

/**
 * For what depends on more of a request than its endpoint.
 *
 * @throws {AppError} `forbidden`
 */
export function assertMayDo(caller: Caller, need: Role, permission: string): void {
  if (mayDo(caller, need, permission)) return;
  throw new AppError("forbidden", `The role ${need} or ${permission} is required for this`);
}
