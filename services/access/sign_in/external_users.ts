/** Checks of the accounts that an identity provider may sign in. @module */

import {
  countAdmins,
  selectHadForeignPassword,
  selectIsEmailUnconfirmed,
  selectUser,
  updateUserPassword,
  type User,
} from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { deleteFactors } from "../factors/factors.ts";
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
 * A user may have entered another person's address, for the own account or for one that they created,
 * whose login would then find that account.
 *
 * @throws {SignInRefusal} `email_unconfirmed`.
 */
export function assertEmailConfirmed(db: Deps["db"], { id, email }: User): void {
  if (!selectIsEmailUnconfirmed(db, id)) return;
  throw refused(
    "email_unconfirmed",
    `No administrator has confirmed the address of user ${email}; ask one to do so under Users`,
  );
}

/**
 * Whether the identity provider of a user has taken their role away, so that no way in is left before
 * it gives one again or an admin sets one. The last admin stays one.
 */
export function isShutOut(
  { accounts, db }: Pick<Deps, "accounts" | "db">,
  userId: string,
): boolean {
  if (!accounts.isRefused(userId)) return false;
  return selectUser(db, userId)?.role !== "admin" || countAdmins(db) > 1;
}

/** @throws {AppError} `forbidden` as {@linkcode isShutOut}, for passwords and passkeys. */
export function assertNotShutOut(deps: Pick<Deps, "accounts" | "db">, userId: string): void {
  if (!isShutOut(deps, userId)) return;
  throw new AppError(
    "forbidden",
    "Your identity provider gives your account no role any more; ask an administrator",
  );
}

/**
 * Removes the password and the factors of an account that a provider finds, if someone else has known
 * a password of it: the provider may give it more rights than they have. Runs inside the caller's
 * transaction; the caller ends the sessions of the account after it.
 */
export function removeForeignAccess({ db, log }: Pick<Deps, "db" | "log">, { id }: User): void {
  if (!selectHadForeignPassword(db, id)) return;
  updateUserPassword(db, id, null, { hadForeignPassword: false });
  deleteFactors(db, id);
  log.warn("password and factors of a linked account removed: another user had set the password", {
    userId: id,
  });
}

const refused = (reason: UserReason, message: string) =>
  new SignInRefusal(reason, "forbidden", message);
