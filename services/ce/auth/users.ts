/**
 * Users: who may log in, and as what.
 *
 * @module
 */

import { updateRefreshTokensRevoked } from "../../../db/ce/refresh_tokens.ts";
import {
  countAdmins,
  countUsers,
  deleteUser,
  insertUser,
  selectPasswordHash,
  selectUser,
  selectUserByEmail,
  selectUsers,
  updateUserPassword,
  updateUserRole,
  type User,
} from "../../../db/ce/users.ts";
import { KEY_USER } from "../../auth/accounts.ts";
import { type Caller, includesRole, mayDo, type UserRole } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import type { LoginAttempt } from "../../auth/login_throttle.ts";
import { EMAIL_RULE, emailKey, isEmail } from "./emails.ts";
import { revokeFamiliesOfUser } from "./families.ts";
import {
  assertAcceptablePassword,
  hashPassword,
  makePassword,
  verifyPassword,
} from "./passwords.ts";

export type { User };

export interface NewUser {
  email: string;
  password: string;
  role: UserRole;
}

/**
 * Who a caller is. Behind the API key there is nobody with an email.
 *
 * @throws {AppError} `unauthorized` when the user was deleted a moment ago.
 */
export function describeCaller(
  { db }: Pick<Deps, "db">,
  { userId, role }: Caller,
): Omit<User, "email" | "createdAt"> & { email: string | null; createdAt: string | null } {
  if (userId === KEY_USER) {
    return { id: userId, email: null, role: role as UserRole, createdAt: null, lastLoginAt: null };
  }
  const user = selectUser(db, userId);
  if (!user) throw new AppError("unauthorized", "The user of this token does not exist any more");
  return user;
}

/** All users by email. @throws {AppError} `not_found` in key mode. */
export function listUsers({ config, db }: Pick<Deps, "config" | "db">): User[] {
  assertUsersMode(config);
  return selectUsers(db);
}

/**
 * Stores a new user.
 *
 * @throws {AppError} `not_found` in key mode; `invalid` for what is no email or an unacceptable
 * password; `forbidden` for a role above the caller's; `conflict` for an email that somebody has.
 * @throws {LimitError} When the edition allows no more users.
 */
export async function createUser(
  deps: Pick<Deps, "config" | "db" | "accounts" | "license" | "now" | "log">,
  caller: Caller,
  { email, password, role }: NewUser,
): Promise<User> {
  assertUsersMode(deps.config);
  assertMayGive(caller, role);
  assertEmail(email);
  assertAcceptablePassword(password);
  const assertRoom = () => {
    assertBelowLimit(deps.license, "users", countUsers(deps.db));
    assertEmailFree(deps.db, email);
  };

  // Once before, for a refusal costs no hash; once after, for others may have come meanwhile.
  assertRoom();
  const passwordHash = await hashPassword(password);
  assertRoom();
  return storeUser(deps, { email, passwordHash, role });
}

/**
 * Stores a user whose identity others vouch for; without a password, none opens the account.
 *
 * @param passwordHash As `hashPassword()` makes it, or `null`.
 * @throws {AppError} `conflict` for an email that somebody has.
 */
export function storeUser(
  { db, accounts, now, log }: Pick<Deps, "db" | "accounts" | "now" | "log">,
  { email, passwordHash, role }: Omit<NewUser, "password"> & { passwordHash: string | null },
): User {
  assertEmailFree(db, email);
  const user: User = {
    id: crypto.randomUUID(),
    email,
    role,
    createdAt: now().toISOString(),
    lastLoginAt: null,
  };
  insertUser(db, { ...user, emailKey: emailKey(email), passwordHash });
  accounts.put(user.id, role);
  log.info("user created", { userId: user.id, role });
  return user;
}

/**
 * Creates the first admin in users mode while there is none. There may be users already who
 * signed in through an identity provider in key mode.
 *
 * @param deliver Gives a created password to the operator. Only then the account is stored.
 */
export async function ensureFirstAdmin(
  deps: Pick<Deps, "config" | "db" | "accounts" | "now" | "log">,
  deliver: (account: { email: string; password: string }) => void,
): Promise<void> {
  const { config, db } = deps;
  if (config.authMode !== "users" || countAdmins(db) > 0) return;
  const email = config.adminEmail;
  const password = config.adminPassword ?? makePassword();
  assertAcceptablePassword(password);
  const passwordHash = await hashPassword(password);
  if (config.adminPassword === null) deliver({ email, password });
  storeUser(deps, { email, passwordHash, role: "admin" });
}

/**
 * Gives a user another role. It holds at the user's very next request; the login cannot be renewed
 * with it, so that whoever was demoted has to log in again within 15 minutes.
 *
 * @throws {AppError} `not_found` for an unknown user and in key mode; `forbidden` for a role above
 * the caller's, and for a user with more rights; `conflict` when no admin would be left.
 */
export function setUserRole(
  { config, db, accounts, now, log }: Pick<Deps, "config" | "db" | "accounts" | "now" | "log">,
  caller: Caller,
  id: string,
  role: UserRole,
): User {
  assertUsersMode(config);
  assertMayGive(caller, role);
  const user = existing(db, id);
  assertMayManage(caller, user);
  if (user.role === role) return user;
  if (user.role === "admin") assertAnotherAdmin(db, "demoted");

  db.transaction(() => {
    updateUserRole(db, id, role);
    updateRefreshTokensRevoked(db, id, now().toISOString());
  });
  accounts.put(id, role);
  log.info("role changed", { userId: id, from: user.role, to: role });
  return { ...user, role };
}

/**
 * Changes a password: an admin anybody else's, whoever else may write users that of somebody with
 * no more rights, everybody the own one with the current one. Every login of that user ends.
 *
 * @throws {AppError} `forbidden` for another's password that is not theirs to change and for a
 * wrong current one; `invalid` for an unacceptable password or a missing current one; `not_found`
 * for an unknown user and in key mode.
 * @throws {ThrottledError} After too many wrong current passwords.
 */
export async function changePassword(
  deps: Pick<Deps, "config" | "db" | "accounts" | "throttle" | "now" | "log">,
  caller: Caller,
  id: string,
  { password, currentPassword }: { password: string; currentPassword: string | undefined },
): Promise<User> {
  assertUsersMode(deps.config);
  const oneself = caller.userId === id;
  if (!oneself && !mayDo(caller, "admin", "users:write")) {
    throw new AppError("forbidden", "The role admin is required for another user's password");
  }
  assertAcceptablePassword(password);
  if (oneself) {
    await assertCurrentPassword(deps, caller, currentPassword);
    return await setPassword(deps, id, password);
  }
  assertMayManage(caller, existing(deps.db, id));
  return await setPassword(deps, id, password, (user) => assertMayManage(caller, user));
}

/**
 * Sets a password without asking for the former one, and ends every login of the user.
 *
 * @param assertStill Asked about the user when the hash is there: that takes its time, and meanwhile
 * the user may have got another role.
 * @throws {AppError} `invalid` for an unacceptable password; `not_found` for an unknown user.
 */
export async function setPassword(
  deps: Pick<Deps, "db" | "accounts" | "now" | "log">,
  id: string,
  password: string,
  assertStill: (user: User) => void = () => {},
): Promise<User> {
  const { db, log } = deps;
  assertAcceptablePassword(password);
  const passwordHash = await hashPassword(password);
  const user = existing(db, id);
  assertStill(user);
  revokeFamiliesOfUser(deps, id, () => updateUserPassword(db, id, passwordHash));
  log.info("password changed", { userId: id });
  return user;
}

/**
 * Deletes a user and ends all their logins.
 *
 * @returns The user as it was.
 * @throws {AppError} `not_found` for an unknown user and in key mode; `forbidden` for a user with
 * more rights; `conflict` for the caller's own account and for the last admin.
 */
export function removeUser(
  deps: Pick<Deps, "config" | "db" | "accounts" | "now" | "log">,
  caller: Caller,
  id: string,
): User {
  const { config, db, accounts, log } = deps;
  assertUsersMode(config);
  const user = existing(db, id);
  if (caller.userId === id) {
    throw new AppError("conflict", "You cannot delete your own account");
  }
  assertMayManage(caller, user);
  if (user.role === "admin") assertAnotherAdmin(db, "deleted");

  revokeFamiliesOfUser(deps, id, () => deleteUser(db, id));
  accounts.remove(id);
  log.info("user deleted", { userId: id });
  return user;
}

async function assertCurrentPassword(
  { db, throttle, log }: Pick<Deps, "db" | "throttle" | "log">,
  { userId, address }: Caller,
  currentPassword: string | undefined,
): Promise<void> {
  if (currentPassword === undefined) {
    throw new AppError("invalid", "body.current_password: is required to change your own password");
  }
  const { email } = existing(db, userId);
  let attempt: LoginAttempt | undefined;
  const right = await verifyPassword(currentPassword, selectPasswordHash(db, userId), () => {
    attempt = throttle.begin(address, emailKey(email));
  });
  if (!right) {
    log.warn("wrong current password", { userId, address });
    throw new AppError("forbidden", "The current password is wrong");
  }
  attempt?.succeeded();
}

function assertUsersMode({ authMode }: Pick<Deps["config"], "authMode">): void {
  if (authMode !== "users") {
    throw new AppError("not_found", "Users mode is off (AUTH_MODE=key); there are no users");
  }
}

/** Somebody who was given more than the caller has would be a way to it. @throws `forbidden` */
function assertMayGive({ role: own }: Caller, role: UserRole): void {
  if (includesRole(own, role)) return;
  throw new AppError("forbidden", `Only somebody with the role ${role} can give it`);
}

/** So would the login of somebody who has more. @throws {AppError} `forbidden` */
function assertMayManage(caller: Caller, { id, role }: User): void {
  if (caller.role === "admin") return;
  if (includesRole(caller.role, role) && caller.rights?.includeThoseOf(id)) return;
  throw new AppError("forbidden", `User ${id} may do what you may not, and is not yours to change`);
}

function assertEmail(email: string): void {
  if (!isEmail(email)) throw new AppError("invalid", `email: ${EMAIL_RULE}`);
}

function assertEmailFree(db: Deps["db"], email: string): void {
  if (selectUserByEmail(db, emailKey(email))) {
    throw new AppError("conflict", `A user with the email ${email} exists already`);
  }
}

function assertAnotherAdmin(db: Deps["db"], fate: string): void {
  if (countAdmins(db) <= 1) throw new AppError("conflict", `The last admin cannot be ${fate}`);
}

function existing(db: Deps["db"], id: string): User {
  const user = selectUser(db, id);
  if (!user) throw notFound("User", id);
  return user;
}
