/** Users whom identity providers name, in `oidc_identities` and `sso_identities`. @module */

import type { Database } from "./database.ts";

/** A provider's name for a user. */
export interface ProviderIdentity {
  kind: "oidc" | "saml";
  /** The issuer (OpenID Connect) or the entity ID (SAML). */
  issuer: string;
  /** The provider's permanent name for the user; `null` if SAML has none. */
  subject: string | null;
  /** ISO 8601, UTC. */
  linkedAt: string;
}

/** One as stored, with its provider: those of SAML are in the database. */
interface StoredIdentity extends ProviderIdentity {
  samlId: string | null;
  samlName: string | null;
}

/** Tables by kind, with the column of the issuer. */
const TABLES = {
  oidc: ["oidc_identities", "issuer"],
  saml: ["sso_identities", "entity_id"],
} as const;

/** Whether a provider of either protocol has signed in the user, even if it was removed since. */
export function hasProviderIdentity(db: Database, userId: string): boolean {
  return db.get<{ has: number }>(
    `SELECT EXISTS (SELECT 1 FROM oidc_identities WHERE user_id = :userId)
       OR EXISTS (SELECT 1 FROM sso_identities WHERE user_id = :userId) AS has`,
    { userId },
  )!.has === 1;
}

/** The identities of a user, oldest first. */
export function selectProviderIdentities(db: Database, userId: string): StoredIdentity[] {
  return db.all<StoredIdentity>(
    `SELECT 'oidc' AS kind, issuer, subject, linked_at AS linkedAt,
            NULL AS samlId, NULL AS samlName
       FROM oidc_identities WHERE user_id = :userId
     UNION ALL
     SELECT 'saml', i.entity_id, i.name_id, i.linked_at, p.id, p.name
       FROM sso_identities i LEFT JOIN identity_providers p ON p.entity_id = i.entity_id
      WHERE i.user_id = :userId
     ORDER BY linkedAt, issuer`,
    { userId },
  );
}

export function deleteProviderIdentity(
  db: Database,
  { userId, kind, issuer }: Pick<ProviderIdentity, "kind" | "issuer"> & { userId: string },
): void {
  const [table, column] = TABLES[kind];
  db.run(`DELETE FROM ${table} WHERE user_id = :userId AND ${column} = :issuer`, {
    userId,
    issuer,
  });
}

export function deleteProviderIdentitiesOfUser(db: Database, userId: string): void {
  for (const [table] of Object.values(TABLES)) {
    db.run(`DELETE FROM ${table} WHERE user_id = :userId`, { userId });
  }
}

/** Whether a session began at the provider. */
export function isSessionOfProvider(
  db: Database,
  sessionId: string,
  { kind, issuer }: Pick<ProviderIdentity, "kind" | "issuer">,
): boolean {
  const sessions = kind === "oidc"
    ? "oidc_sessions WHERE session_id = :sessionId AND issuer = :issuer"
    : `sso_sessions s JOIN identity_providers p ON p.id = s.provider_id
        WHERE s.family_id = :sessionId AND p.entity_id = :issuer`;
  return db.get<{ has: number }>(
    `SELECT EXISTS (SELECT 1 FROM ${sessions}) AS has`,
    { sessionId, issuer },
  )!.has === 1;
}
