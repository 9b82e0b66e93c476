/** The `oidc_identities` table: the users of OpenID Connect providers. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const identities = table("oidc_identities", {
  issuer: text(),
  /** The issuer's permanent name for the user. */
  subject: text(),
  userId: text(),
  /** ISO 8601, UTC. */
  linkedAt: text(),
});

/** An issuer's name for a user. */
type OidcIdentity = Row<typeof identities>;

export const { insert: insertOidcIdentity } = identities;

/** The user whom an issuer calls so, or `undefined`. */
export function selectUserIdOfSubject(
  db: Database,
  { issuer, subject }: Pick<OidcIdentity, "issuer" | "subject">,
): string | undefined {
  return identities.selectOne(db, "WHERE issuer = :issuer AND subject = :subject", {
    issuer,
    subject,
  })?.userId;
}

/** Whether a user has a name at an issuer. */
export function hasIdentityAt(
  db: Database,
  { issuer, userId }: Pick<OidcIdentity, "issuer" | "userId">,
): boolean {
  return identities.countWhere(db, "WHERE issuer = :issuer AND user_id = :userId", {
    issuer,
    userId,
  }) > 0;
}
