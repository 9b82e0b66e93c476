/** The `users` table: accounts in users mode. @module */

import { boolean, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const shown = {
  id: text(),
  /** As given; `emailKey` identifies the user. */
  email: text(),
  /** `null` unless the user has entered one. */
  name: text<string | null>(),
  role: text<"viewer" | "operator" | "admin">(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  /** `null` before the first login. */
  lastLoginAt: text<string | null>(),
};

const users = table("users", shown, { order: "email_key" });

/** One user as shown. */
export type User = Row<typeof users>;

export const {
  find: selectUser,
  count: countUsers,
  /** All users by email. */
  all: selectUsers,
} = users;

const accounts = table("users", {
  ...shown,
  /** The address in the form used for comparison. Unique. */
  emailKey: text(),
  /** `null` for a user who cannot log in by password. */
  passwordHash: text<string | null>(),
  /** The user entered the email, and no administrator or identity provider confirmed it. */
  isEmailUnconfirmed: boolean(),
  /** The user's identity provider gives them no role any more. */
  isRefused: boolean(),
  /** Another user without the role admin has chosen a password of this user. */
  hadForeignPassword: boolean(),
});

/** A user with the fields that are stored but not shown. */
type Account = Row<typeof accounts>;

export const { delete: deleteUser } = accounts;

/**
 * Users of key mode, who cannot log in by password: a SAML provider vouches for them. OpenID Connect is
 * off there.
 */
export function selectUsersOfKeyMode(db: Database): User[] {
  return users.select(
    db,
    `WHERE password_hash IS NULL AND (id NOT IN (SELECT user_id FROM oidc_identities)
       OR id IN (SELECT user_id FROM sso_identities)) ORDER BY email_key`,
  );
}

/** One user, or `undefined` when the address is unknown. */
export function selectUserByEmail(db: Database, emailKey: string): User | undefined {
  return users.selectOne(db, "WHERE email_key = :emailKey", { emailKey });
}

/** The stored hash; `null` for a user without a password and for an unknown id. */
export function selectPasswordHash(db: Database, id: string): string | null {
  return db.get<{ hash: string | null }>(
    "SELECT password_hash AS hash FROM users WHERE id = :id",
    { id },
  )?.hash ?? null;
}

/** Whether the user entered their email themselves; `false` for an unknown id. */
export function selectIsEmailUnconfirmed(db: Database, id: string): boolean {
  return accounts.find(db, id)?.isEmailUnconfirmed ?? false;
}

/** Whether another user without the role admin has chosen a password of this user. */
export function selectHadForeignPassword(db: Database, id: string): boolean {
  return accounts.find(db, id)?.hadForeignPassword ?? false;
}

export function countAdmins(db: Database): number {
  return users.countWhere(db, "WHERE role = 'admin'");
}

/** @throws The SQLite error for an `emailKey` that is already in use. */
export function insertUser(
  db: Database,
  user:
    & Omit<Account, "name" | "isEmailUnconfirmed" | "isRefused" | "hadForeignPassword">
    & Partial<Pick<Account, "isEmailUnconfirmed" | "hadForeignPassword">>,
): void {
  accounts.insertFields(db, user);
}

/** @throws The SQLite error for an `emailKey` that is already in use. */
export function updateUserDetails(
  db: Database,
  id: string,
  changes: Partial<Pick<Account, "name" | "email" | "emailKey" | "isEmailUnconfirmed">>,
): void {
  if (Object.keys(changes).length > 0) accounts.update(db, id, changes);
}

/** @returns Whether the id was known. */
export function updateUserRole(db: Database, id: string, role: User["role"]): boolean {
  return accounts.update(db, id, { role });
}

export function updateUserRefused(db: Database, id: string, isRefused: boolean): void {
  accounts.update(db, id, { isRefused });
}

/** Users whom their identity provider gives no role any more. */
export function selectRefusedUserIds(db: Database): string[] {
  return users.select(db, "WHERE is_refused = 1").map(({ id }) => id);
}

/** Users whose address no administrator and no identity provider has confirmed. */
export function selectUnconfirmedUserIds(db: Database): string[] {
  return users.select(db, "WHERE is_email_unconfirmed = 1").map(({ id }) => id);
}

/** @param passwordHash `null` for none. @returns Whether the id was known. */
export function updateUserPassword(
  db: Database,
  id: string,
  passwordHash: string | null,
  others: Partial<Pick<Account, "hadForeignPassword">> = {},
): boolean {
  return accounts.update(db, id, { passwordHash, ...others });
}

/** @returns Whether the id was known. */
export function updateUserLastLogin(db: Database, id: string, lastLoginAt: string): boolean {
  return accounts.update(db, id, { lastLoginAt });
}
