/** The `saml_assertions` table: assertions that have been used, by issuer and id. @module */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

const assertions = table("saml_assertions", {
  /** The issuer. */
  entity_id: text(),
  assertion_id: text(),
  /** Until when it could be replayed. ISO 8601, UTC. */
  expires_at: text(),
});

/** An assertion that has been used. */
type UsedAssertion = Row<typeof assertions>;

/** Records an assertion. @returns Whether it has not been used before. */
export function insertAssertion(db: Database, assertion: UsedAssertion): boolean {
  return assertions.insertFields(db, assertion, "ON CONFLICT (entity_id, assertion_id) DO NOTHING");
}

/** @returns How many were deleted. */
export function deleteExpiredAssertions(db: Database, now: string): number {
  return db.run("DELETE FROM saml_assertions WHERE expires_at <= :now", { now });
}
