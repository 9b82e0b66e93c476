/**
 * Links for one sign-in, which an operator of the host creates: the way back in when passwords are
 * off and the identity provider does not work.
 *
 * @module
 */

import { insertLoginLink, takeLoginLink } from "../../../db/login_links.ts";
import { randomText, sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";

export const LOGIN_LINK_MINUTES = 10;

const SECRET_BYTES = 32;

/** @returns The secret of the link, of which only the hash is stored. */
export function createLoginLink({ db, now }: Pick<Deps, "db" | "now">, userId: string): string {
  const secret = randomText(SECRET_BYTES);
  const expiresAt = new Date(now().getTime() + LOGIN_LINK_MINUTES * 60_000).toISOString();
  insertLoginLink(db, { id: sha256(secret), userId, expiresAt });
  return secret;
}

/** Uses a link up. @returns Its user; `undefined` if it is unknown, used or expired. */
export function redeemLoginLink(
  { db, now }: Pick<Deps, "db" | "now">,
  secret: string,
): string | undefined {
  const link = takeLoginLink(db, sha256(secret));
  return link && link.expiresAt > now().toISOString() ? link.userId : undefined;
}
