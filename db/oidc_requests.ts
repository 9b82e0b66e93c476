/** The `oidc_requests` table: sign-ins at OpenID Connect providers that were begun. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const requests = table("oidc_requests", {
  /** SHA-256 of the state, base64url. */
  id: text(),
  providerId: text(),
  nonce: text(),
  codeVerifier: text(),
  redirectUri: text(),
  /** The hash of the browser's login cookie; of a test the id of the admin. */
  browserHash: text(),
  /** The hash of the secret of the page that began it; empty for a test. */
  pageHash: text(),
  /** The path of the dashboard that the browser goes to. */
  returnTo: text(),
  /** ISO 8601, UTC. */
  expiresAt: text(),
  /** The address group that began it. */
  client: text(),
});

/** One sign-in that was begun. */
export type OidcRequest = Row<typeof requests>;

export const { insert: insertOidcRequest } = requests;

/** Removes a request and returns it; `undefined` for an unknown one. */
export function takeOidcRequest(db: Database, id: string): OidcRequest | undefined {
  const request = requests.find(db, id);
  if (request) requests.delete(db, id);
  return request;
}

export function deleteOidcRequestsOfProvider(db: Database, providerId: string): void {
  db.run("DELETE FROM oidc_requests WHERE provider_id = :providerId", { providerId });
}

/** @returns How many were deleted. */
export function deleteExpiredOidcRequests(db: Database, now: string): number {
  return db.run("DELETE FROM oidc_requests WHERE expires_at <= :now", { now });
}
