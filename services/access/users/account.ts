/** The caller's own account. @module */

import {
  selectAccount,
  selectPasswordHash,
  selectUser,
  selectUserByEmail,
  updateUserDetails,
  type User,
} from "../../../db/users.ts";
import { KEY_USER } from "../accounts.ts";
import type { Caller, UserRole } from "../caller.ts";
import { assertAcceptablePassword } from "../passwords/passwords.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import { deletePasskeys } from "../factors/factors.ts";
import { reportAccountChange } from "./changes.ts";
import { emailKey } from "./emails.ts";
import { setOwnPassword } from "./passwords.ts";
import { assertUsersMode, emailInUse } from "./users.ts";

interface Account extends Omit<User, "email" | "createdAt"> {
  mode: "key" | "users";
  /** `null` for the API key. */
  email: string | null;
  createdAt: string | null;
  /** Whether the account signs in by password. */
  hasPassword: boolean;
}

type AccountDeps = Pick<Deps, "accounts" | "db">;

/**
 * The caller's account. The holder of the API key has neither an email nor a name.
 *
 * @throws {AppError} `unauthorized` if the user has just been deleted.
 */
export function describeAccount(
  { accounts, db }: AccountDeps,
  { userId, role }: Caller,
): Account {
  const { mode } = accounts;
  if (userId === KEY_USER) {
    return {
      mode,
      id: userId,
      email: null,
      name: null,
      role: role as UserRole,
      createdAt: null,
      lastLoginAt: null,
      hasPassword: false,
    };
  }
  const user = findCaller(db, userId);
  return { mode, ...user, hasPassword: selectPasswordHash(db, userId) !== null };
}

/**
 * Changes the name and the email of the caller's account.
 *
 * An address that a user enters is not confirmed, so identity providers cannot link it: otherwise a
 * user could enter the address of someone else and share the account that their login finds. Admins
 * can confirm any address anyway, so theirs are. Either way the account loses all earlier ways in when
 * a provider links it.
 *
 * @throws {AppError} `not_found` in key mode; `conflict` for an email in use, and for an account of
 * an identity provider, which recognizes it by its email.
 */
export function updateAccount(
  deps: AccountDeps & EmitDeps,
  caller: Caller,
  { name, email }: { name?: string | null | undefined; email?: string | undefined },
): Account {
  const { accounts, db, log } = deps;
  assertUsersMode(accounts);
  const user = findCaller(db, caller.userId);
  const isNewEmail = email !== undefined && email !== user.email;
  if (isNewEmail) {
    if (selectPasswordHash(db, user.id) === null) {
      throw new AppError("conflict", "The identity provider sets the email of this account");
    }
    const owner = selectUserByEmail(db, emailKey(email));
    if (owner && owner.id !== user.id) throw emailInUse(email);
  }
  updateUserDetails(db, user.id, {
    ...(name !== undefined && { name }),
    ...(isNewEmail && {
      email,
      emailKey: emailKey(email),
      hasForeignAccess: true,
      ...(caller.role === "admin"
        ? { isEmailUnconfirmed: false, formerEmail: null }
        : { isEmailUnconfirmed: true, formerEmail: formerEmailOf(db, user) }),
    }),
  });
  if (isNewEmail) {
    log.info("email changed", { userId: user.id });
    const change = `Email changed from ${user.email}`;
    reportAccountChange(deps, caller, "account.access_changed", change);
  }
  return describeAccount(deps, caller);
}

/**
 * Changes the caller's password, and revokes their other sessions.
 *
 * @param change.removePasskeys Whether to delete the passkeys, which sign in without the password.
 * @throws {AppError} `forbidden` for a wrong current password; `invalid` for an unacceptable new
 * one; `conflict` for an account without a password; `not_found` in key mode.
 * @throws {ThrottledError} After too many wrong current passwords.
 */
export async function changeOwnPassword(
  deps: Pick<Deps, "db" | "accounts" | "passwords" | "throttle" | "now" | "log">,
  caller: Caller,
  { currentPassword, newPassword, removePasskeys = false }: {
    currentPassword: string;
    newPassword: string;
    removePasskeys?: boolean | undefined;
  },
): Promise<User> {
  assertUsersMode(deps.accounts);
  assertAcceptablePassword(newPassword);
  if (selectPasswordHash(deps.db, caller.userId) === null) {
    throw new AppError("conflict", "This account signs in through an identity provider");
  }
  return await setOwnPassword(deps, caller, {
    password: newPassword,
    currentPassword,
    keptSession: caller.familyId,
    ...(removePasskeys && { alsoStore: () => deletePasskeys(deps.db, caller.userId) }),
  });
}

/** The last address of an account that was confirmed; `null` if none was. */
function formerEmailOf(db: Deps["db"], { id, email }: User): string | null {
  const account = selectAccount(db, id);
  return account?.isEmailUnconfirmed ? account.formerEmail : email;
}

function findCaller(db: Deps["db"], userId: string): User {
  const user = selectUser(db, userId);
  if (!user) throw new AppError("unauthorized", "The user of this token no longer exists");
  return user;
}
