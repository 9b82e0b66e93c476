/** Passwords of users: changes by their owner and by others, and the check of the current one. @module */

import { selectPasswordHash, updateUserPassword, type User } from "../../../db/users.ts";
import { hasProviderIdentity } from "../../../db/provider_identities.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type Caller, mayDo } from "../caller.ts";
import { assertAcceptablePassword } from "../passwords/passwords.ts";
import { revokeFamiliesOfUser } from "../sign_in/families.ts";
import type { LoginAttempt } from "../sign_in/login_throttle.ts";
import { emailKey } from "./emails.ts";
import { assertMayManage, assertUsersMode, findUser } from "./users.ts";

/**
 * Changes a password and revokes every login of the user. Users change their own password with the
 * current one. Admins change any other password; callers with `users:write` only those of users
 * without additional rights whom no identity provider signs in: its groups may give rights later.
 *
 * @throws {AppError} `forbidden` without the permission and for a wrong current password; `invalid`
 * for an unacceptable password or a missing current one; `not_found` for an unknown user and in key
 * mode.
 * @throws {ThrottledError} After too many wrong current passwords.
 */
export async function changePassword(
  deps: Pick<Deps, "db" | "accounts" | "passwords" | "throttle" | "now" | "log">,
  caller: Caller,
  id: string,
  { password, currentPassword }: { password: string; currentPassword: string | undefined },
): Promise<User> {
  assertUsersMode(deps.accounts);
  const isOwn = caller.userId === id;
  if (!isOwn && !mayDo(caller, "admin", "users:write")) {
    throw new AppError("forbidden", "Changing another user's password requires the role admin");
  }
  assertAcceptablePassword(password);
  if (isOwn) return await setOwnPassword(deps, caller, { password, currentPassword });
  const assertAllowed = (user: User) => {
    assertMayManage(caller, user);
    assertNotOfProvider(deps.db, caller, user);
  };
  assertAllowed(findUser(deps.db, id));
  return await setPassword(deps, id, password, {
    assertAllowed,
    ...(caller.role !== "admin" && { hasForeignAccess: true }),
  });
}

/** @throws {AppError} `forbidden`. */
function assertNotOfProvider(db: Deps["db"], { role }: Caller, { id }: User): void {
  if (role === "admin") return;
  if (selectPasswordHash(db, id) !== null && !hasProviderIdentity(db, id)) return;
  throw new AppError(
    "forbidden",
    `User ${id} signs in through an identity provider; their password requires the role admin`,
  );
}

/**
 * Changes the caller's own password. A password that was changed while this call was checked is not
 * replaced: an admin may have changed it because someone else knows the current one.
 *
 * @throws {AppError} `invalid` without the current password and for an unacceptable new one;
 * `forbidden` for a wrong current password.
 * @throws {ThrottledError} After too many wrong current passwords.
 */
export async function setOwnPassword(
  deps: Pick<Deps, "db" | "accounts" | "passwords" | "throttle" | "now" | "log">,
  caller: Caller,
  { password, currentPassword, ...options }: {
    password: string;
    currentPassword: string | undefined;
  } & Pick<SetPasswordOptions, "keptSession" | "alsoStore">,
): Promise<User> {
  const { userId } = caller;
  const stored = await assertCurrentPassword(deps, caller, currentPassword);
  return await setPassword(deps, userId, password, {
    ...options,
    assertAllowed() {
      if (selectPasswordHash(deps.db, userId) !== stored) throw wrongCurrentPassword();
    },
  });
}

interface SetPasswordOptions {
  /** Called after hashing, because the user may have been changed meanwhile. */
  assertAllowed?: (user: User) => void;
  /** The id of a session that is not revoked. */
  keptSession?: string | undefined;
  /** Stores what else changes, in the same transaction. */
  alsoStore?: () => void;
  /** Whether someone else without the role admin knows it; this is kept for later passwords. */
  hasForeignAccess?: true;
}

/**
 * Sets a password without the current one, and revokes every login of the user.
 *
 * @throws {AppError} `invalid` for an unacceptable password; `not_found` for an unknown user.
 */
export async function setPassword(
  deps: Pick<Deps, "db" | "accounts" | "passwords" | "now" | "log">,
  id: string,
  password: string,
  { assertAllowed = () => {}, alsoStore = () => {}, keptSession, ...origin }: SetPasswordOptions =
    {},
): Promise<User> {
  const { db, log } = deps;
  assertAcceptablePassword(password);
  const passwordHash = await deps.passwords.hash(password);
  const user = findUser(db, id);
  assertAllowed(user);
  const store = () => {
    updateUserPassword(db, id, passwordHash, origin);
    alsoStore();
  };
  revokeFamiliesOfUser(deps, id, { change: store, except: keptSession });
  log.info("password changed", { userId: id });
  return user;
}

/**
 * @returns The stored hash, which the password matches.
 * @throws {AppError} `invalid` without the current password; `forbidden` for a wrong one.
 * @throws {ThrottledError} After too many wrong ones.
 */
export async function assertCurrentPassword(
  { db, passwords, throttle, log }: Pick<Deps, "db" | "passwords" | "throttle" | "log">,
  { userId, address }: Caller,
  currentPassword: string | undefined,
): Promise<string | null> {
  if (currentPassword === undefined) {
    throw new AppError("invalid", "body.current_password: Required to change your own password");
  }
  const { email } = findUser(db, userId);
  let attempt: LoginAttempt | undefined;
  const stored = selectPasswordHash(db, userId);
  const isRight = await passwords.verify(currentPassword, stored, () => {
    attempt = throttle.begin(address, emailKey(email));
  });
  if (!isRight) {
    log.warn("wrong current password", { userId, address });
    throw wrongCurrentPassword();
  }
  attempt?.succeeded();
  return stored;
}

const wrongCurrentPassword = () => new AppError("forbidden", "The current password is wrong");
