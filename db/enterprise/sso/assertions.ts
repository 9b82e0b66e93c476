/**
 * The `saml_assertions` table: assertions that were used, by issuer and id.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One assertion that was used. */
export interface UsedAssertion {
  /** The issuer. */
  entity_id: string;
  assertion_id: string;
  /** Until when it would be good again if it were forgotten. ISO 8601, UTC. */
  expires_at: string;
}

/** Remembers an assertion. @returns Whether it was not known before. */
export function insertAssertion(db: Database, assertion: UsedAssertion): boolean {
  return db.run(
    `INSERT INTO saml_assertions (entity_id, assertion_id, expires_at)
     VALUES (:entity_id, :assertion_id, :expires_at)
     ON CONFLICT (entity_id, assertion_id) DO NOTHING`,
    { ...assertion },
  ) > 0;
}

/** @returns How many can be forgotten. */
export function deleteExpiredAssertions(db: Database, now: string): number {
  return db.run("DELETE FROM saml_assertions WHERE expires_at <= :now", { now });
}
