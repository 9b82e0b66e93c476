/** Whether the sign-in page offers passkeys. @module */

import { hasPasskeyBesidePassword } from "../../../db/passkeys.ts";
import type { Deps } from "../../deps.ts";
import { findRelyingParty } from "./relying_party.ts";

/**
 * Whether accounts sign in, and one has a passkey for the host of the service that signs in alone:
 * those of accounts that sign in at a provider only are second factors.
 *
 * @param base As for {@linkcode findRelyingParty}.
 */
export function offersPasskeys(
  { accounts, config, db }: Pick<Deps, "accounts" | "config" | "db">,
  base: string,
): boolean {
  if (accounts.mode !== "users") return false;
  const party = findRelyingParty(base);
  const withProvider = config.passwordLogin === "on";
  return party !== undefined && hasPasskeyBesidePassword(db, party.rpId, { withProvider });
}
