/** The `passkeys` table: WebAuthn credentials of accounts. @module */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const passkeys = table("passkeys", {
  id: text(),
  userId: text(),
  name: text(),
  /** Base64url. Unique. */
  credentialId: text(),
  /** COSE key, base64url. */
  publicKey: text(),
  /** Host that it was created for. */
  rpId: text(),
  /** Signature counter of its last use; 0 where the authenticator does not count. */
  counter: number(),
  /** Ways to reach the authenticator, e.g. `usb`; hints for the browser. */
  transports: json<string[]>(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  lastUsedAt: text<string | null>(),
}, { order: "created_at, id" });

export type Passkey = Row<typeof passkeys>;

export const { insert: insertPasskey, find: selectPasskey } = passkeys;

/** The passkeys of a user, oldest first. */
export function selectPasskeys(db: Database, userId: string): Passkey[] {
  return passkeys.select(db, "WHERE user_id = :userId ORDER BY created_at, id", { userId });
}

export function selectPasskeyByCredential(db: Database, credentialId: string): Passkey | undefined {
  return passkeys.selectOne(db, "WHERE credential_id = :credentialId", { credentialId });
}

export function countPasskeys(db: Database, userId: string): number {
  return passkeys.countWhere(db, "WHERE user_id = :userId", { userId });
}

/**
 * Whether an account with a password has a passkey for this host.
 *
 * @param options.withProvider Whether accounts count that an identity provider signs in, too.
 */
export function hasPasskeyBesidePassword(
  db: Database,
  rpId: string,
  { withProvider }: { withProvider: boolean },
): boolean {
  const others = withProvider ? "" : `
    AND user_id NOT IN (SELECT user_id FROM oidc_identities)
    AND user_id NOT IN (SELECT user_id FROM sso_identities)`;
  const clauses = `WHERE rp_id = :rpId
    AND user_id IN (SELECT id FROM users WHERE password_hash IS NOT NULL) ${others} LIMIT 1`;
  return passkeys.selectOne(db, clauses, { rpId }) !== undefined;
}

/** @returns Whether the user has this passkey. */
export function updatePasskeyName(
  db: Database,
  { id, userId, name }: Pick<Passkey, "id" | "userId" | "name">,
): boolean {
  return db.run("UPDATE passkeys SET name = :name WHERE id = :id AND user_id = :userId", {
    ...{ id, userId, name },
  }) > 0;
}

/** Records a use. @returns `false` if another use has raised the counter meanwhile. */
export function updatePasskeyUse(
  db: Database,
  { id, counter, lastUsedAt }: { id: string; counter: number; lastUsedAt: string },
): boolean {
  return db.run(
    `UPDATE passkeys SET counter = :counter, last_used_at = :lastUsedAt
     WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))`,
    { id, counter, lastUsedAt },
  ) > 0;
}

/** @returns Whether the user had this passkey. */
export function deletePasskey(
  db: Database,
  { id, userId }: Pick<Passkey, "id" | "userId">,
): boolean {
  return db.run("DELETE FROM passkeys WHERE id = :id AND user_id = :userId", { id, userId }) > 0;
}

export function deletePasskeysOfUser(db: Database, userId: string): void {
  db.run("DELETE FROM passkeys WHERE user_id = :userId", { userId });
}
