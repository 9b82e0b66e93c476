/** The `login_links` table: links for one sign-in that an operator has created on the host. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const links = table("login_links", {
  /** SHA-256 of the secret in the link, base64url. */
  id: text(),
  userId: text(),
  /** ISO 8601, UTC. */
  expiresAt: text(),
});

/** A link that was not used yet. */
export type LoginLink = Row<typeof links>;

export const { insert: insertLoginLink } = links;

/** Removes a link and returns it; `undefined` for an unknown one. */
export function takeLoginLink(db: Database, id: string): LoginLink | undefined {
  const link = links.find(db, id);
  if (link) links.delete(db, id);
  return link;
}

/** @returns How many were deleted. */
export function deleteExpiredLoginLinks(db: Database, now: string): number {
  return db.run("DELETE FROM login_links WHERE expires_at <= :now", { now });
}
