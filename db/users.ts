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
  /** The confirmed address before the user entered the present one; `null` for none. */
  formerEmail: text<string | null>(),
  /** The user's identity provider gives them no role any more. */
  isRefused: boolean(),
  /**
   * The issuer that gives no role any more, or the id of the provider whose domains the address has left;
   * `null` if it is not known: then only an admin lets the user act again.
   */
  refusedBy: text<string | null>(),
  /** Another person than the owner of the address may have a way into the account. */
  hasForeignAccess: boolean(),
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

/** A user with what is stored about their address and access; `undefined` for an unknown id. */
export const selectAccount: (db: Database, id: string) => Account | undefined = accounts.find;

export function countAdmins(db: Database): number {
  return users.countWhere(db, "WHERE role = 'admin'");
}

/** Selects the ids of users whom a custom role limits to hosts of the fleet. */
export const LIMITED_TO_HOSTS =
  `SELECT user_id FROM custom_role_assignments JOIN custom_roles ON custom_roles.id = role_id
   WHERE hosts IS NOT NULL OR host_labels IS NOT NULL`;

/**
 * Whether there is another admin whom no identity provider refuses, whom no custom role limits to hosts
 * of the fleet, and who has a password or is linked to an enabled provider. Passkeys need a password
 * beside them.
 *
 * @param issuers Those of OpenID Connect providers that are not stored.
 */
export function hasOtherAdmin(db: Database, id: string, issuers: readonly string[]): boolean {
  return users.countWhere(
    db,
    `WHERE role = 'admin' AND is_refused = 0 AND id <> :id AND id NOT IN (${LIMITED_TO_HOSTS}) AND (
       password_hash IS NOT NULL
       OR id IN (SELECT user_id FROM oidc_identities WHERE issuer IN (
            SELECT issuer FROM oidc_providers WHERE enabled = 1
            UNION SELECT value FROM json_each(:issuers)))
       OR id IN (SELECT user_id FROM sso_identities WHERE entity_id IN (
            SELECT entity_id FROM identity_providers WHERE enabled = 1)))`,
    { id, issuers: JSON.stringify(issuers) },
  ) > 0;
}

/** @throws The SQLite error for an `emailKey` that is already in use. */
export function insertUser(
  db: Database,
  user:
    & Omit<
      Account,
      | "name"
      | "isEmailUnconfirmed"
      | "formerEmail"
      | "isRefused"
      | "refusedBy"
      | "hasForeignAccess"
    >
    & Partial<Pick<Account, "isEmailUnconfirmed" | "hasForeignAccess">>,
): void {
  accounts.insertFields(db, user);
}

/** @throws The SQLite error for an `emailKey` that is already in use. */
export function updateUserDetails(
  db: Database,
  id: string,
  changes: Partial<
    Pick<
      Account,
      "name" | "email" | "emailKey" | "isEmailUnconfirmed" | "formerEmail" | "hasForeignAccess"
    >
  >,
): void {
  if (Object.keys(changes).length > 0) accounts.update(db, id, changes);
}

/** @returns Whether the id was known. */
export function updateUserRole(db: Database, id: string, role: User["role"]): boolean {
  return accounts.update(db, id, { role });
}

export function updateUserRefused(
  db: Database,
  id: string,
  refusal: Pick<Account, "isRefused" | "refusedBy">,
): void {
  accounts.update(db, id, refusal);
}

/** Users whom their identity provider gives no role any more. */
export function selectRefusedUserIds(db: Database): string[] {
  return users.select(db, "WHERE is_refused = 1").map(({ id }) => id);
}

/** Users whose address no administrator and no identity provider has confirmed. */
export function selectUnconfirmedUsers(db: Database): Pick<Account, "id" | "formerEmail">[] {
  return accounts.select(db, "WHERE is_email_unconfirmed = 1");
}

/** @param passwordHash `null` for none. @returns Whether the id was known. */
export function updateUserPassword(
  db: Database,
  id: string,
  passwordHash: string | null,
  others: Partial<Pick<Account, "hasForeignAccess">> = {},
): boolean {
  return accounts.update(db, id, { passwordHash, ...others });
}

/** @returns Whether the id was known. */
export function updateUserLastLogin(db: Database, id: string, lastLoginAt: string): boolean {
  return accounts.update(db, id, { lastLoginAt });
}
