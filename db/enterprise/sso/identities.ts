/**
 * The `sso_identities` table: which identity provider vouches for which user.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** That a provider vouches for a user. */
export interface SsoIdentity {
  user_id: string;
  /** The provider's own name. */
  entity_id: string;
  /** Its lasting name for the user; `null` where it has none. */
  name_id: string | null;
  /** Whether the user was created for it; else it was linked to one who was there. */
  provisioned: boolean;
  /** ISO 8601, UTC. */
  linked_at: string;
}

type Row = Omit<SsoIdentity, "provisioned"> & { provisioned: number };

/** What a provider knows a user by, or `undefined` when it does not vouch for the user. */
export function selectIdentity(
  db: Database,
  { userId, entityId }: { userId: string; entityId: string },
): SsoIdentity | undefined {
  const row = db.get<Row>(
    `SELECT user_id, entity_id, name_id, provisioned, linked_at FROM sso_identities
      WHERE user_id = :userId AND entity_id = :entityId`,
    { userId, entityId },
  );
  return row && { ...row, provisioned: row.provisioned === 1 };
}

/** The user whom a provider knows by a lasting name. */
export function selectUserIdOfNameId(
  db: Database,
  { entityId, nameId }: { entityId: string; nameId: string },
): string | undefined {
  return db.get<{ userId: string }>(
    `SELECT user_id AS userId FROM sso_identities
      WHERE entity_id = :entityId AND name_id = :nameId`,
    { entityId, nameId },
  )?.userId;
}

/** The name of the provider, of those that there are, for which a user was created. */
export function selectProvisionerOfUser(db: Database, userId: string): string | undefined {
  return db.get<{ name: string }>(
    `SELECT p.name FROM sso_identities i JOIN identity_providers p ON p.entity_id = i.entity_id
      WHERE i.user_id = :userId AND i.provisioned = 1`,
    { userId },
  )?.name;
}

export function insertIdentity(db: Database, identity: SsoIdentity): void {
  db.run(
    `INSERT INTO sso_identities (user_id, entity_id, name_id, provisioned, linked_at)
     VALUES (:user_id, :entity_id, :name_id, :provisioned, :linked_at)`,
    { ...identity, provisioned: Number(identity.provisioned) },
  );
}

export function updateIdentityNameId(
  db: Database,
  { userId, entityId, nameId }: { userId: string; entityId: string; nameId: string },
): void {
  db.run(
    `UPDATE sso_identities SET name_id = :nameId
      WHERE user_id = :userId AND entity_id = :entityId`,
    { userId, entityId, nameId },
  );
}

/** A provider has another name from now on; what was left of an earlier one of that name goes. */
export function updateIdentitiesEntityId(
  db: Database,
  { from, to }: { from: string; to: string },
): void {
  db.run("DELETE FROM sso_identities WHERE entity_id = :to", { to });
  db.run("UPDATE sso_identities SET entity_id = :to WHERE entity_id = :from", { from, to });
}
