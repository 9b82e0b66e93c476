/** The `saml_requests` table: login requests sent to identity providers. @module */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

const requests = table("saml_requests", {
  id: text(),
  provider_id: text(),
  /** Until when a response is accepted. */
  expires_at: text(),
  /** When a response was accepted. */
  used_at: text<string | null>(),
  /** The login cookie of a browser that gets a session, as a hash; `null` for a client of the API. */
  browser_hash: text<string | null>(),
  /** The secret of the page that began the login, as a hash. */
  page_hash: text<string | null>(),
  /** The path that this browser goes to. */
  return_to: text<string | null>(),
  /** The address group that began it. */
  client: text(),
});

/** One request as stored. Times are ISO 8601, UTC. */
export type SamlRequest = Row<typeof requests>;

export const { find: selectRequest } = requests;

export function insertRequest(db: Database, request: Omit<SamlRequest, "used_at">): void {
  requests.insertFields(db, request);
}

export function updateRequestUsed(db: Database, id: string, usedAt: string): void {
  requests.update(db, id, { used_at: usedAt });
}

/** @returns How many were deleted. */
export function deleteExpiredRequests(db: Database, now: string): number {
  return db.run("DELETE FROM saml_requests WHERE expires_at <= :now", { now });
}
