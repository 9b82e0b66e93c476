/**
 * The `saml_assertions` table: assertions that have been used, by issuer and id.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** An assertion that has been used. */
interface UsedAssertion {
  /** The issuer. */
  entity_id: string;
  assertion_id: string;
  /** Until when it could be replayed. ISO 8601, UTC. */
  expires_at: string;
}

const assertions = table<UsedAssertion>("saml_assertions", {
  entity_id: "value",
  assertion_id: "value",
  expires_at: "value",
});

/** Records an assertion. @returns Whether it has not been used before. */
export function insertAssertion(db: Database, assertion: UsedAssertion): boolean {
  return assertions.insertFields(db, assertion, "ON CONFLICT (entity_id, assertion_id) DO NOTHING");
}

/** @returns How many were deleted. */
export function deleteExpiredAssertions(db: Database, now: string): number {
  return db.run("DELETE FROM saml_assertions WHERE expires_at <= :now", { now });
}
