/**
 * Users, their roles and the logins that were ended, in memory: every request is checked against
 * them, so that a changed role, a deleted user and a logout hold at the very next one.
 *
 * @module
 */

import { selectRevokedFamilies } from "../../db/ce/revoked_families.ts";
import { selectPasswordHash, selectUsers, selectUsersWithoutPassword } from "../../db/ce/users.ts";
import { selectDataVersion } from "../../db/data_version.ts";
import type { StateDatabase } from "../../db/database.ts";
import type { UserRole } from "./caller.ts";

/** The caller of key mode who brings the API key. */
export const KEY_USER = "key";

/** The caller that brings METRICS_TOKEN. */
export const METRICS_USER = "metrics";

/** A login: whose it is, and which of theirs. A {@linkcode Caller} is one too. */
export interface Session {
  userId: string;
  familyId: string;
}

export interface Accounts {
  /**
   * The role that the login's user has now; `undefined` when the user is gone or the login was
   * ended. Whatever outlives a request (a stream, a ticket) asks again before it goes on.
   */
  roleOf(session: Session): UserRole | undefined;
  /** Takes over a new user, or a changed role, after it was stored. */
  put(userId: string, role: UserRole): void;
  /** Forgets a user, after the row is gone. */
  remove(userId: string): void;
  /** Refuses a login's tokens from now on; `expiresAt` is when its last access token ends. */
  revoke(familyId: string, expiresAt: Date): void;
  /** Number of ended logins that are remembered, for the memory bound's test. */
  readonly revokedCount: number;
}

/** How often the database is asked whether another process changed it, in milliseconds. */
const LOOK_MS = 1_000;

/**
 * Reads the accounts. In key mode these are the API key's holder and the users without a password,
 * for whom an identity provider vouches: a password of users mode opens nothing there. The services
 * keep them in step with what they store; what another process stores (`longshore user ...` beside
 * a running service) is seen within a second.
 */
export function createAccounts(
  db: StateDatabase,
  { authMode }: { authMode: "key" | "users" },
  now: () => Date,
): Accounts {
  const roles = new Map<string, UserRole>();
  // In the order of their expiry, or nearly so.
  const revoked = new Map<string, number>();
  let version = 0;
  let lookedAt = 0;

  read(now());

  function read(at: Date): void {
    version = selectDataVersion(db);
    lookedAt = at.getTime();
    roles.clear();
    if (authMode === "key") roles.set(KEY_USER, "admin");
    const users = authMode === "key" ? selectUsersWithoutPassword(db) : selectUsers(db);
    for (const { id, role } of users) roles.set(id, role);
    revoked.clear();
    for (const { familyId, expiresAt } of selectRevokedFamilies(db, at.toISOString())) {
      revoked.set(familyId, Date.parse(expiresAt));
    }
  }

  function look(within = LOOK_MS): void {
    const at = now();
    if (Math.abs(at.getTime() - lookedAt) < within) return;
    lookedAt = at.getTime();
    if (selectDataVersion(db) !== version) read(at);
  }

  return {
    roleOf({ userId, familyId }) {
      look();
      // Somebody that another process added a moment ago can log in at once.
      if (!roles.has(userId)) look(0);
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
