/** Checks of the accounts that an identity provider may sign in. @module */

import { selectIsEmailUnconfirmed, type User } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { emailKey, isEmail } from "../users/emails.ts";
import { SignInRefusal, type UserReason } from "./refusal.ts";

/**
 * Checks an address that a provider sent.
 *
 * @param source Where it comes from, and what an administrator can do about a missing one.
 * @throws {SignInRefusal} `email_missing`, `email_invalid`.
 */
export function usableEmail(
  email: string | null,
  source: { name: string; remedy: string },
): string {
  if (email === null) {
    throw refused("email_missing", `${source.name} has no email address; ${source.remedy}`);
  }
  // Case folding maps some letters to ASCII ones (e.g. U+212A, the Kelvin sign).
  const foldsToAscii = (letter: string) => !isAscii(letter) && isAscii(emailKey(letter));
  // Invisible characters (e.g. U+3164) make an address look like another one.
  const isMisleading = /\p{Default_Ignorable_Code_Point}/u.test(email) ||
    [...email].some(foldsToAscii);
  if (!isEmail(email) || isMisleading) {
    throw refused("email_invalid", `The email address in ${lowerFirst(source.name)} is not valid`);
  }
  return email;
}

const lowerFirst = (text: string) => text[0]!.toLowerCase() + text.slice(1);

// deno-lint-ignore no-control-regex
const isAscii = (text: string) => /^[\x00-\x7F]*$/.test(text);

/**
 * In key mode users with a password are disabled, also for identity providers.
 *
 * @throws {SignInRefusal} `account_off`.
 */
export function assertActive({ accounts }: Pick<Deps, "accounts">, { id, email }: User): void {
  if (accounts.roleOf({ userId: id, familyId: "" }) !== undefined) return;
  throw refused(
    "account_off",
    `User ${email} logs in with a password, which is disabled (AUTH_MODE=key)`,
  );
}

/**
 * A user may have entered another person's address, whose login would then find this account.
 *
 * @throws {SignInRefusal} `email_unconfirmed`.
 */
export function assertEmailConfirmed(db: Deps["db"], { id, email }: User): void {
  if (!selectIsEmailUnconfirmed(db, id)) return;
  throw refused(
    "email_unconfirmed",
    `User ${email} entered this address without confirmation by an administrator`,
  );
}

const refused = (reason: UserReason, message: string) =>
  new SignInRefusal(reason, "forbidden", message);
