/** User accounts and their roles. @module */

import { deleteKnownClientsOfUser } from "../../../db/known_clients.ts";
import { updateRefreshTokensRevoked } from "../../../db/refresh_tokens.ts";
import { updateSessionsExpiry } from "../../../db/sessions.ts";
import {
  countAdmins,
  countUsers,
  deleteUser,
  insertUser,
  selectUnconfirmedUsers,
  selectUser,
  selectUserByEmail,
  selectUsers,
  updateUserDetails,
  updateUserRefused,
  updateUserRole,
  type User,
} from "../../../db/users.ts";
import { KEY_USER } from "../accounts.ts";
import { type Caller, includesRole, type UserRole } from "../caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { assertBelowLimit } from "../license/limits.ts";
import { EMAIL_RULE, emailKey, isEmail } from "./emails.ts";
import { accessTokensEnd, revokeFamiliesOfUser } from "../sign_in/families.ts";
import { assertAcceptablePassword, makePassword } from "../passwords/passwords.ts";

export type { User };

/** Email of the first admin, if `ADMIN_EMAIL` sets none. */
const DEFAULT_ADMIN_EMAIL = "admin@localhost";

interface NewUser {
  email: string;
  password: string;
  role: UserRole;
}

/**
 * Describes the caller. The user of the API key has no email.
 *
 * @throws {AppError} `unauthorized` if the user has just been deleted.
 */
export function describeCaller(
  { db }: Pick<Deps, "db">,
  { userId, role, hub }: Caller,
): Omit<User, "name" | "email" | "createdAt"> & {
  email: string | null;
  createdAt: string | null;
} {
  if (userId === KEY_USER || hub) {
    return {
      id: userId,
      email: hub?.user ?? null,
      role: role as UserRole,
      createdAt: null,
      lastLoginAt: null,
    };
  }
  const user = selectUser(db, userId);
  if (!user) throw new AppError("unauthorized", "The user of this token no longer exists");
  return user;
}

/** A user in a list. */
interface ListedUser extends User {
  /** Whether identity providers may link the account by its address. */
  isEmailConfirmed: boolean;
  /** The confirmed address before the user entered the present one; `null` for none. */
  formerEmail: string | null;
  /** Whether the identity provider gives no role any more, so that sign-ins and API tokens are refused. */
  isSuspended: boolean;
}

/** All users by email. @throws {AppError} `not_found` in key mode. */
export function listUsers({ accounts, db }: Pick<Deps, "accounts" | "db">): ListedUser[] {
  assertUsersMode(accounts);
  const unconfirmed = new Map(selectUnconfirmedUsers(db).map((user) => [user.id, user]));
  return selectUsers(db).map((user) => ({
    ...user,
    isEmailConfirmed: !unconfirmed.has(user.id),
    formerEmail: unconfirmed.get(user.id)?.formerEmail ?? null,
    isSuspended: accounts.isRefused(user.id),
  }));
}

/**
 * Confirms that an address belongs to its user, so that an identity provider may link the account.
 *
 * @param email The address that is confirmed: the user may have changed it meanwhile.
 * @throws {AppError} `not_found` for an unknown user and in key mode; `conflict` for another address.
 */
export function confirmEmail(
  { accounts, db, log }: Pick<Deps, "accounts" | "db" | "log">,
  id: string,
  email: string,
): User {
  const user = findActiveUser({ accounts, db }, id);
  if (user.email !== email) {
    throw new AppError("conflict", `The address of this user is ${user.email}; confirm that one`);
  }
  updateUserDetails(db, id, { isEmailUnconfirmed: false, formerEmail: null });
  log.info("email confirmed", { userId: id });
  return user;
}

/**
 * Stores a new user.
 *
 * @throws {AppError} `not_found` in key mode; `invalid` for an invalid email or password;
 * `forbidden` for a role above the caller's; `conflict` for an email in use.
 * @throws {LimitError} When the edition's limit of users is reached.
 */
export async function createUser(
  deps: Pick<Deps, "db" | "accounts" | "license" | "passwords" | "now" | "log">,
  caller: Caller,
  { email, password, role }: NewUser,
): Promise<User> {
  assertUsersMode(deps.accounts);
  assertMayAssign(caller, role);
  assertEmail(email);
  assertAcceptablePassword(password);
  const assertCanStore = () => {
    assertBelowLimit(deps.license, "users", countUsers(deps.db));
    assertEmailFree(deps.db, email);
  };

  // Checked before hashing to refuse early, and again because users may have been added meanwhile.
  assertCanStore();
  const passwordHash = await deps.passwords.hash(password);
  assertCanStore();
  // Only an admin vouches that the address belongs to the user who gets the password.
  const isForeign = caller.role !== "admin";
  const given = { isEmailUnconfirmed: isForeign, hasForeignAccess: isForeign };
  return storeUser(deps, { email, passwordHash, role, ...given });
}

/**
 * Stores a user.
 *
 * @param passwordHash `null` for a user of an identity provider, who cannot log in by password.
 * @param origin Who has chosen the address and the password; by default an admin or a provider.
 * @throws {AppError} `conflict` for an email in use.
 */
export function storeUser(
  { db, accounts, now, log }: Pick<Deps, "db" | "accounts" | "now" | "log">,
  { email, passwordHash, role, ...origin }:
    & Omit<NewUser, "password">
    & { passwordHash: string | null; isEmailUnconfirmed?: boolean; hasForeignAccess?: boolean },
): User {
  assertEmailFree(db, email);
  const user = {
    id: crypto.randomUUID(),
    email,
    role,
    createdAt: now().toISOString(),
    lastLoginAt: null,
  };
  insertUser(db, { ...user, ...origin, emailKey: emailKey(email), passwordHash });
  accounts.put(user.id, role);
  log.info("user created", { userId: user.id, role });
  return { ...user, name: null };
}

/**
 * Creates the first admin in users mode. Users who signed in through an identity provider in key
 * mode may exist already.
 *
 * @param deliver Gives a generated password to the operator. The account is stored afterwards.
 * @throws {AppError} `conflict` if a user without the role admin has the email.
 */
export async function ensureFirstAdmin(
  deps: Pick<Deps, "config" | "db" | "accounts" | "passwords" | "now" | "log">,
  deliver: (account: { email: string; password: string }) => void,
): Promise<void> {
  const { config, accounts, db } = deps;
  if (accounts.mode !== "users" || countAdmins(db) > 0) return;
  const email = config.adminEmail ?? DEFAULT_ADMIN_EMAIL;
  assertEmailFree(db, email);
  const password = config.adminPassword ?? makePassword();
  assertAcceptablePassword(password);
  const passwordHash = await deps.passwords.hash(password);
  if (config.adminPassword === null) deliver({ email, password });
  storeUser(deps, { email, passwordHash, role: "admin" });
}

/**
 * Changes the role of a user. It takes effect with the user's next request. Existing logins cannot
 * be renewed, so the user has to log in again within 15 minutes. An admin also ends the suspension of
 * the user by it, with the same role, too.
 *
 * @throws {AppError} `not_found` for an unknown user and in key mode; `forbidden` for a role above
 * the caller's, and for a user with more rights; `conflict` for the last admin.
 */
export function setUserRole(
  { db, accounts, now, log }: Pick<Deps, "db" | "accounts" | "now" | "log">,
  caller: Caller,
  id: string,
  role: UserRole,
): User {
  assertUsersMode(accounts);
  assertMayAssign(caller, role);
  const user = findUser(db, id);
  assertMayManage(caller, user);
  if (user.role === "admin" && role !== "admin") assertAnotherAdmin(accounts, id, "demoted");
  // The administrator answers for the user then, not the identity provider.
  if (caller.role === "admin") {
    updateUserRefused(db, id, { isRefused: false, refusedBy: null });
    accounts.setRefused(id, false);
  }
  if (user.role === role) return user;

  db.transaction(() => {
    updateUserRole(db, id, role);
    updateRefreshTokensRevoked(db, id, now().toISOString());
    updateSessionsExpiry(db, id, accessTokensEnd(now()).toISOString());
  });
  accounts.put(id, role);
  log.info("role changed", { userId: id, from: user.role, to: role });
  return { ...user, role };
}

/**
 * Deletes a user and revokes their logins.
 *
 * @returns The deleted user.
 * @throws {AppError} `not_found` for an unknown user and in key mode; `forbidden` for a user with
 * more rights; `conflict` for the caller's own account and for the last admin.
 */
export function removeUser(
  deps: Pick<Deps, "db" | "accounts" | "now" | "log">,
  caller: Caller,
  id: string,
): User {
  const { db, accounts, log } = deps;
  assertUsersMode(accounts);
  const user = findUser(db, id);
  if (caller.userId === id) {
    throw new AppError("conflict", "You cannot delete your own account");
  }
  assertMayManage(caller, user);
  if (user.role === "admin") assertAnotherAdmin(accounts, id, "deleted");

  revokeFamiliesOfUser(deps, id, {
    change: () => {
      deleteUser(db, id);
      deleteKnownClientsOfUser(db, id);
    },
  });
  accounts.remove(id);
  log.info("user deleted", { userId: id });
  return user;
}

/** @throws {AppError} `not_found` in key mode. */
export function assertUsersMode({ mode }: Pick<Deps["accounts"], "mode">): void {
  if (mode !== "users") {
    throw new AppError("not_found", "Users mode is off (AUTH_MODE=key)");
  }
}

/** Callers cannot assign a role above their own. @throws {AppError} `forbidden` */
function assertMayAssign({ role: own }: Caller, role: UserRole): void {
  if (includesRole(own, role)) return;
  throw new AppError("forbidden", `Assigning the role ${role} requires the role ${role}`);
}

/** Callers cannot change users with more rights. @throws {AppError} `forbidden` */
export function assertMayManage(caller: Caller, { id, role }: Pick<User, "id" | "role">): void {
  if (caller.role === "admin") return;
  if (includesRole(caller.role, role) && caller.rights?.includeThoseOf(id)) return;
  throw new AppError(
    "forbidden",
    `You cannot change user ${id}: they have permissions that you do not have`,
  );
}

/** As {@linkcode assertMayManage}, for what belongs to an account; that of the API key is an admin. */
export function assertMayManageOwner(db: Deps["db"], caller: Caller, userId: string): void {
  assertMayManage(caller, selectUser(db, userId) ?? { id: userId, role: "admin" });
}

export function assertEmail(email: string): void {
  if (!isEmail(email)) throw new AppError("invalid", `email: ${EMAIL_RULE}`);
}

function assertEmailFree(db: Deps["db"], email: string): void {
  if (selectUserByEmail(db, emailKey(email))) throw emailInUse(email);
}

export const emailInUse = (email: string) =>
  new AppError("conflict", `A user with the email ${email} already exists`);

/** An admin whom custom roles limit to hosts cannot manage this server, and does not count. */
function assertAnotherAdmin(accounts: Deps["accounts"], id: string, action: string): void {
  if (accounts.hasOtherAdmin(id)) return;
  throw new AppError("conflict", `The last admin cannot be ${action}`);
}

/** One user. @throws {AppError} `not_found` for an unknown user and in key mode. */
export function findActiveUser({ accounts, db }: Pick<Deps, "accounts" | "db">, id: string): User {
  assertUsersMode(accounts);
  return findUser(db, id);
}

export function findUser(db: Deps["db"], id: string): User {
  return requireFound(selectUser(db, id), "User", id);
}
