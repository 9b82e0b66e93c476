/** Whether the sign-in page offers passkeys. @module */

import { hasPasskeys } from "../../../db/passkeys.ts";
import type { Deps } from "../../deps.ts";
import { findRelyingParty } from "./relying_party.ts";

/**
 * Whether accounts sign in, and one has a passkey for the host of the service.
 *
 * @param base As for {@linkcode findRelyingParty}.
 */
export function offersPasskeys(
  { accounts, db }: Pick<Deps, "accounts" | "db">,
  base: string,
): boolean {
  if (accounts.mode !== "users") return false;
  const party = findRelyingParty(base);
  return party !== undefined && hasPasskeys(db, party.rpId);
}
