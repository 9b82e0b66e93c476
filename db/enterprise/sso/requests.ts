/**
 * The `saml_requests` table: logins that were begun here and wait for an identity provider's
 * answer.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One request as stored. Times are ISO 8601, UTC. */
export interface SamlRequest {
  id: string;
  provider_id: string;
  /** Until when an answer is accepted. */
  expires_at: string;
  /** When it was answered. */
  used_at: string | null;
}

/** One request, or `undefined` when the id is unknown. */
export function selectRequest(db: Database, id: string): SamlRequest | undefined {
  return db.get<SamlRequest>(
    "SELECT id, provider_id, expires_at, used_at FROM saml_requests WHERE id = :id",
    { id },
  );
}

export function countRequests(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM saml_requests")!.n;
}

export function insertRequest(db: Database, request: Omit<SamlRequest, "used_at">): void {
  db.run(
    `INSERT INTO saml_requests (id, provider_id, expires_at)
     VALUES (:id, :provider_id, :expires_at)`,
    { ...request },
  );
}

export function updateRequestUsed(db: Database, id: string, usedAt: string): void {
  db.run("UPDATE saml_requests SET used_at = :usedAt WHERE id = :id", { id, usedAt });
}

/** Deletes the `surplus` oldest requests. */
export function deleteOldestRequests(db: Database, surplus: number): void {
  db.run(
    `DELETE FROM saml_requests
      WHERE id IN (SELECT id FROM saml_requests ORDER BY expires_at, id LIMIT :surplus)`,
    { surplus },
  );
}

/** @returns How many had expired. */
export function deleteExpiredRequests(db: Database, now: string): number {
  return db.run("DELETE FROM saml_requests WHERE expires_at <= :now", { now });
}
