/** The `sso_identities` table: links between users and identity providers. @module */

import { boolean, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

const identities = table("sso_identities", {
  user_id: text(),
  /** The provider's entity id. */
  entity_id: text(),
  /** The provider's persistent name for the user; `null` without one. */
  name_id: text<string | null>(),
  /** Whether the user was created for this link; otherwise the user existed before. */
  provisioned: boolean(),
  /** ISO 8601, UTC. */
  linked_at: text(),
});

/** A provider's name for a user. */
type SsoIdentity = Row<typeof identities>;

export const { insert: insertIdentity } = identities;

/** The link between a user and a provider, or `undefined`. */
export function selectIdentity(
  db: Database,
  { userId, entityId }: { userId: string; entityId: string },
): SsoIdentity | undefined {
  return identities.selectOne(db, "WHERE user_id = :userId AND entity_id = :entityId", {
    userId,
    entityId,
  });
}

/** The user that a provider identifies by a name id. */
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

/** The name of the provider that a user was created for, if the provider exists. */
export function selectProvisionerOfUser(db: Database, userId: string): string | undefined {
  return db.get<{ name: string }>(
    `SELECT p.name FROM sso_identities i JOIN identity_providers p ON p.entity_id = i.entity_id
      WHERE i.user_id = :userId AND i.provisioned = 1`,
    { userId },
  )?.name;
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

/** Moves the links of a provider to a new entity id, in place of any older links of that id. */
export function updateIdentitiesEntityId(
  db: Database,
  { from, to }: { from: string; to: string },
): void {
  db.run("DELETE FROM sso_identities WHERE entity_id = :to", { to });
  db.run("UPDATE sso_identities SET entity_id = :to WHERE entity_id = :from", { from, to });
}
