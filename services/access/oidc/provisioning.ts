/**
 * Maps the subject of an ID token to a user, and links or creates that user.
 *
 * A user is identified by issuer and subject. An address finds an existing account only if the
 * provider says that it is verified, and the administrator allows that: otherwise a person could
 * enter another person's address at the provider and get their account.
 *
 * @module
 */

import {
  hasIdentityAt,
  insertOidcIdentity,
  selectUserIdOfSubject,
} from "../../../db/oidc_identities.ts";
import {
  countUsers,
  selectAccount,
  selectUser,
  selectUserByEmail,
  updateUserRefused,
  updateUserRole,
  type User,
} from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { assertBelowLimit } from "../license/limits.ts";
import {
  assertActive,
  assertEmailConfirmed,
  assertNotSuspended,
  isShutOut,
  removeForeignAccess,
  usableEmail,
} from "../sign_in/external_users.ts";
import { revokeFamiliesOfUser } from "../sign_in/families.ts";
import { SignInRefusal } from "../sign_in/refusal.ts";
import { emailKey } from "../users/emails.ts";
import { storeUser } from "../users/users.ts";
import {
  type Claims,
  customRoleNames,
  emailOf,
  type GivenRoles,
  isEmailVerified,
  isOfDomain,
  rolesOf,
} from "./claims.ts";
import type { OidcProvider } from "./provider.ts";
import { notAllowed, notAuthenticated } from "./refusal.ts";

type ProvisioningDeps = Pick<Deps, "db" | "accounts" | "groupRoles" | "license" | "now" | "log">;

export interface ProvisionedUser {
  user: User;
  /** Whether the user was created by this sign-in. */
  isNew: boolean;
  /** Whether the user existed, and is linked by this sign-in: earlier sessions must end. */
  isLinked: boolean;
}

/** Longest subject (OpenID Connect Core 1.0, section 2), in characters. */
const SUBJECT_MAX = 255;

const EMAIL_SOURCE = {
  name: "The account at the identity provider",
  remedy: "request the scope email, or release the address to this client",
};

/**
 * Finds, links or creates the user, and sets the roles. Stores nothing if the sign-in is refused.
 * Runs inside the caller's transaction; if that fails, the caller has to remove a new user from the
 * accounts again, and to read the roles again.
 *
 * @throws {SignInRefusal} `subject_invalid`, `domain`, `no_role`, `email_missing`, `email_invalid`, `unknown_user`,
 * `existing_user`, `email_unverified`, `email_unconfirmed`, `other_subject`, `account_off`, `suspended`.
 * @throws {LimitError} If the license limit of users is reached.
 */
export function findOidcUser(
  deps: ProvisioningDeps,
  provider: OidcProvider,
  claims: Claims,
): ProvisionedUser {
  const { db } = deps;
  assertSubject(claims);
  const subject = { issuer: provider.issuer, subject: claims.sub };
  assertDomain(provider, claims);
  const roles = requireRoles(deps, provider, claims);
  const linkedId = selectUserIdOfSubject(db, subject);
  const linked = linkedId === undefined ? undefined : selectUser(db, linkedId);
  if (linked) {
    assertActive(deps, linked);
    assertNotSuspended(deps, linked, resumedBy(provider));
    return { user: applyRoles(deps, provider, linked, roles), isNew: false, isLinked: false };
  }
  const email = usableEmail(emailOf(claims), EMAIL_SOURCE);
  const existing = selectUserByEmail(db, emailKey(email));
  if (existing) {
    assertActive(deps, existing);
    assertLinkable(db, provider, existing, claims);
    assertNotSuspended(deps, existing, resumedBy(provider));
    removeForeignAccess(deps, existing);
  }
  const user = existing ?? createUser(deps, provider, claims, { email, roles });
  const linkedAt = deps.now().toISOString();
  insertOidcIdentity(db, { ...subject, userId: user.id, linkedAt });
  deps.log.info("user linked to identity provider", { userId: user.id, providerId: provider.id });
  const isLinked = existing !== undefined;
  return { user: applyRoles(deps, provider, user, roles), isNew: !isLinked, isLinked };
}

/**
 * Sets the roles of a user if the provider decides about them. The last admin stays one.
 *
 * @returns The user with the role in force.
 */
export function applyRoles(
  deps: Pick<Deps, "db" | "accounts" | "groupRoles" | "log">,
  provider: OidcProvider,
  user: User,
  { role, customRoles }: GivenRoles,
): User {
  const { db, accounts, groupRoles, log } = deps;
  const refusedBy = selectAccount(db, user.id)?.refusedBy ?? null;
  if (resumedBy(provider)(refusedBy)) setRefused(deps, user.id, null);
  if (provider.rolesClaim === null || role === null) return user;
  groupRoles.current.set(user.id, customRoles, customRoleNames(provider));
  if (user.role === role) return user;
  if (user.role === "admin" && !accounts.hasOtherAdmin(user.id)) {
    log.warn("last admin not demoted by the identity provider", {
      userId: user.id,
      providerId: provider.id,
      role,
    });
    return user;
  }
  updateUserRole(db, user.id, role);
  accounts.put(user.id, role);
  log.info("role changed by identity provider", {
    userId: user.id,
    providerId: provider.id,
    from: user.role,
    to: role,
  });
  return { ...user, role };
}

/**
 * Suspends a user to whom the provider gives no role any more: ends their sessions and API tokens, and
 * refuses a password or passkey of the account. The next sign-in there with a role lets them act again.
 * A provider that does not say so, e.g. because its refresh token has expired, changes nothing, and the
 * last admin is not suspended.
 */
export function recordRefusal(
  deps: Pick<Deps, "db" | "accounts" | "log" | "now">,
  { issuer, id: providerId }: OidcProvider,
  userId: string | undefined,
  error: unknown,
): void {
  const { accounts, db, log } = deps;
  const user = selectUser(db, userId ?? "");
  if (!user || !(error instanceof SignInRefusal)) return;
  if (error.reason !== "no_role" && error.reason !== "domain") return;
  if (user.role === "admin" && !accounts.hasOtherAdmin(user.id)) {
    log.warn("last admin not suspended by the identity provider", { userId, providerId });
    return;
  }
  setRefused(deps, user.id, error.reason === "domain" ? providerId : issuer);
  if (isShutOut(deps, user.id)) revokeFamiliesOfUser(deps, user.id);
}

/**
 * Whether a provider gives back a role by what is stored of its loss: several providers may have one
 * issuer, and one without a claim for roles says nothing about groups, or about another one's domains.
 */
const resumedBy = ({ id, issuer, rolesClaim }: OidcProvider) => (refusedBy: string | null) =>
  refusedBy === id || refusedBy === issuer && rolesClaim !== null;

/** Stores what suspends a user; `null` lets them act again. */
function setRefused(
  { db, accounts, log }: Pick<Deps, "db" | "accounts" | "log">,
  userId: string,
  refusedBy: string | null,
): void {
  const isRefused = refusedBy !== null;
  if (accounts.isRefused(userId) === isRefused) return;
  updateUserRefused(db, userId, { isRefused, refusedBy });
  accounts.setRefused(userId, isRefused);
  log.warn(isRefused ? "user suspended: no role at the identity provider" : "user resumed", {
    userId,
  });
}

/**
 * The database stores each lone surrogate as the same character, so that several users would be one.
 *
 * @throws {SignInRefusal} `subject_invalid`.
 */
function assertSubject({ sub }: Claims): void {
  if (sub.trim() !== "" && sub.isWellFormed() && sub.length <= SUBJECT_MAX) return;
  throw notAuthenticated("subject_invalid", "The provider names the user by an invalid subject");
}

/** The roles that the claims give. @throws {SignInRefusal} `no_role`. */
export function requireRoles(
  { groupRoles }: Pick<Deps, "groupRoles">,
  provider: OidcProvider,
  claims: Claims,
): GivenRoles {
  const roles = rolesOf(provider, claims, groupRoles.current.has);
  // Without a claim for roles, those of existing users are set here.
  if (roles.role !== null || provider.rolesClaim === null) return roles;
  throw notAllowed(
    "no_role",
    `Your account at ${provider.name} is in no group that has a role here; ask an administrator`,
  );
}

/** @throws {SignInRefusal} `domain`; `email_missing` if the provider does not say that there is one. */
export function assertDomain({ allowedDomains, name }: OidcProvider, claims: Claims): void {
  if (allowedDomains.length === 0) return;
  const email = emailOf(claims);
  if (email !== null && isEmailVerified(claims) && isOfDomain(email, allowedDomains)) return;
  // A provider that says nothing of an address does not say that it has changed.
  const isUnknown = email === null || claims.email_verified === undefined;
  throw notAllowed(
    isUnknown ? "email_missing" : "domain",
    `Sign-in through ${name} requires a verified email address of an allowed domain`,
  );
}

/** @throws {SignInRefusal} */
function assertLinkable(
  db: Deps["db"],
  { issuer, linkByVerifiedEmail }: OidcProvider,
  user: User,
  claims: Claims,
): void {
  const { email } = user;
  if (!linkByVerifiedEmail) {
    throw notAllowed(
      "existing_user",
      `User ${email} already exists, and the identity provider is not allowed to link existing users`,
    );
  }
  if (!isEmailVerified(claims)) {
    throw notAllowed(
      "email_unverified",
      `User ${email} already exists, and the identity provider has not verified the address`,
    );
  }
  assertEmailConfirmed(db, user);
  if (hasIdentityAt(db, { issuer, userId: user.id })) {
    throw notAllowed(
      "other_subject",
      `User ${email} belongs to another account at the identity provider`,
    );
  }
}

/** @throws {SignInRefusal} `unknown_user`, `no_role`. @throws {LimitError} */
function createUser(
  deps: ProvisioningDeps,
  provider: OidcProvider,
  claims: Claims,
  { email, roles: { role } }: { email: string; roles: GivenRoles },
): User {
  if (!provider.autoProvision) {
    throw notAllowed(
      "unknown_user",
      `User ${email} does not exist, and the identity provider is not allowed to create users`,
    );
  }
  if (role === null) {
    throw notAllowed("no_role", `${provider.name} gives new users no role; ask an administrator`);
  }
  assertBelowLimit(deps.license, "users", countUsers(deps.db));
  const isVerified = isEmailVerified(claims);
  return storeUser(deps, {
    ...{ email, passwordHash: null, role },
    // No other provider may find the account by an address that was not verified.
    isEmailUnconfirmed: !isVerified,
    // A provider that may not link does not prove whose the address is.
    hasForeignAccess: !isVerified || !provider.linkByVerifiedEmail,
  });
}
