/**
 * Users, their roles and revoked sessions, in memory. Every request is checked against them, so that
 * a changed role, a deleted user or a logout takes effect with the next request.
 *
 * @module
 */

import { selectRevokedFamilies } from "../../db/ce/revoked_families.ts";
import { selectPasswordHash, selectUsers, selectUsersWithoutPassword } from "../../db/ce/users.ts";
import { selectDataVersion } from "../../db/data_version.ts";
import type { StateDatabase } from "../../db/database.ts";
import type { UserRole } from "./caller.ts";

/** User id of a caller with the API key, in key mode. */
export const KEY_USER = "key";

/** User id of a caller with METRICS_TOKEN. */
export const METRICS_USER = "metrics";

/** A session of a user. A {@linkcode Caller} has these fields, too. */
export interface Session {
  userId: string;
  familyId: string;
}

export interface Accounts {
  /**
   * Returns the user's current role; `undefined` if the user was deleted or the session revoked.
   * What outlives a request (a stream, a ticket) has to call it again.
   */
  roleOf(session: Session): UserRole | undefined;
  /** Adds a user or changes a role, after it was stored. */
  put(userId: string, role: UserRole): void;
  /** Removes a user, after the row was deleted. */
  remove(userId: string): void;
  /** Revokes the tokens of a session. `expiresAt` is when its last access token expires. */
  revoke(familyId: string, expiresAt: Date): void;
  /** Number of revoked sessions in memory, for tests. */
  readonly revokedCount: number;
}

/** Interval of the check whether another process changed the database, in milliseconds. */
const REFRESH_MS = 1_000;

/**
 * Reads the accounts. In key mode these are the holder of the API key and the users of identity
 * providers, who have no password; users with a password cannot log in there. The services update
 * the accounts with what they store. Changes by another process (`longshore user ...` next to a
 * running service) are noticed within a second.
 */
export function createAccounts(
  db: StateDatabase,
  { authMode }: { authMode: "key" | "users" },
  now: () => Date,
): Accounts {
  const roles = new Map<string, UserRole>();
  // Roughly in the order of their expiry.
  const revoked = new Map<string, number>();
  let version = 0;
  let refreshedAt = 0;

  read(now());

  function read(at: Date): void {
    version = selectDataVersion(db);
    refreshedAt = at.getTime();
    roles.clear();
    if (authMode === "key") roles.set(KEY_USER, "admin");
    const users = authMode === "key" ? selectUsersWithoutPassword(db) : selectUsers(db);
    for (const { id, role } of users) roles.set(id, role);
    revoked.clear();
    for (const { familyId, expiresAt } of selectRevokedFamilies(db, at.toISOString())) {
      revoked.set(familyId, Date.parse(expiresAt));
    }
  }

  function refresh(within = REFRESH_MS): void {
    const at = now();
    if (Math.abs(at.getTime() - refreshedAt) < within) return;
    refreshedAt = at.getTime();
    if (selectDataVersion(db) !== version) read(at);
  }

  return {
    roleOf({ userId, familyId }) {
      refresh();
      // A user that another process has just added can log in at once.
      if (!roles.has(userId)) refresh(0);
      return revoked.has(familyId) ? undefined : roles.get(userId);
    },
    put(userId, role) {
      if (authMode === "key" && selectPasswordHash(db, userId) !== null) return;
      roles.set(userId, role);
    },
    remove: (userId) => void roles.delete(userId),
    revoke(familyId, expiresAt) {
      const at = now().getTime();
      for (const [other, until] of revoked) {
        if (until > at) break;
        revoked.delete(other);
      }
      revoked.delete(familyId);
      revoked.set(familyId, expiresAt.getTime());
    },
    get revokedCount() {
      return revoked.size;
    },
  };
}
