/**
 * Who calls.
 *
 * @module
 */

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
}

/** Whether `have` includes what `need` asks for. */
export function includesRole(have: Role, need: Role): boolean {
  return ROLES.indexOf(have) >= ROLES.indexOf(need);
}
