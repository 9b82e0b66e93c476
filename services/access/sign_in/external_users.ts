/** Checks of the accounts that an identity provider may sign in. @module */

import { deleteApiTokensOfUser, selectApiTokensOfUser } from "../../../db/api_tokens.ts";
import { deleteProviderIdentitiesOfUser } from "../../../db/provider_identities.ts";
import { deletePushTokensOfUser } from "../../../db/push_tokens.ts";
import { selectAccount, selectUser, updateUserPassword, type User } from "../../../db/users.ts";
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
  if (!selectAccount(db, id)?.isEmailUnconfirmed) return;
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
  return selectUser(db, userId)?.role !== "admin" || accounts.hasOtherAdmin(userId);
}

/**
 * Only the provider that has taken the role away gives it back.
 *
 * @param mayResume Whether the provider that signs the user in is that one, by what is stored of it; by
 * default it is not: those of SAML take no roles away.
 * @throws {SignInRefusal} `suspended`.
 */
export function assertNotSuspended(
  deps: Pick<Deps, "accounts" | "db">,
  { id, email }: User,
  mayResume: (refusedBy: string | null) => boolean = () => false,
): void {
  if (!isShutOut(deps, id) || mayResume(selectAccount(deps.db, id)?.refusedBy ?? null)) return;
  throw refused(
    "suspended",
    `User ${email} is suspended: another identity provider gives them no role any more; ` +
      "an administrator can set the role under Users",
  );
}

/** @throws {AppError} `forbidden` as {@linkcode isShutOut}, for passwords and passkeys. */
export function assertNotShutOut(deps: Pick<Deps, "accounts" | "db">, userId: string): void {
  if (!isShutOut(deps, userId)) return;
  throw new AppError(
    "forbidden",
    "Your account is suspended: its identity provider gives it no role any more; " +
      "an administrator can set the role under Users",
  );
}

/**
 * Removes all ways into an account that a provider finds by its address, if someone else than the
 * owner of the address may have one: the provider may give it more rights than they have. Runs inside
 * the caller's transaction, after whose failure the accounts are to be read again; the caller ends the
 * sessions of the account after it.
 *
 * @param options.always Whether the account belonged to another person until now.
 */
export function removeForeignAccess(
  { accounts, db, log }: Pick<Deps, "accounts" | "db" | "log">,
  { id }: User,
  { always = false }: { always?: boolean } = {},
): void {
  if (!always && !selectAccount(db, id)?.hasForeignAccess) return;
  const tokens = selectApiTokensOfUser(db, id);
  updateUserPassword(db, id, null, { hasForeignAccess: false });
  deleteFactors(db, id);
  deleteProviderIdentitiesOfUser(db, id);
  deleteApiTokensOfUser(db, id);
  deletePushTokensOfUser(db, id);
  for (const token of tokens) accounts.removeToken(token.id);
  log.warn("all earlier ways into a linked account removed: another person may have had one", {
    userId: id,
    apiTokens: tokens.length,
  });
}

const refused = (reason: UserReason, message: string) =>
  new SignInRefusal(reason, "forbidden", message);
