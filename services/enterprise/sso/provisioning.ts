/**
 * Which user an assertion stands for.
 *
 * Users are found by email. An identity provider must not become whoever it likes by naming an
 * address: it gets the users that were created for it, and others only where the administrator
 * lets it link them (`link_existing`). Users created for another provider it never gets while
 * that one exists. Where the provider gives lasting names (persistent NameIDs), the name decides:
 * an address that was given to somebody else does not carry the account along, and somebody with
 * another address stays who they were.
 *
 * @module
 */

import type { IdentityProvider } from "../../../db/enterprise/sso/providers.ts";
import {
  insertIdentity,
  selectIdentity,
  selectProvisionerOfUser,
  selectUserIdOfNameId,
  updateIdentityNameId,
} from "../../../db/enterprise/sso/identities.ts";
import { countUsers, selectUser, selectUserByEmail, type User } from "../../../db/ce/users.ts";
import { emailKey, isEmail } from "../../ce/auth/emails.ts";
import { storeUser } from "../../ce/auth/users.ts";
import type { Deps } from "../../deps.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import { NAME_ID_PERSISTENT } from "../saml/name_id.ts";
import { notAllowed } from "./refusal.ts";

type ProvisioningDeps = Pick<Deps, "db" | "accounts" | "license" | "now" | "log">;

/** What of a verified assertion says who it is. */
export interface Claim {
  email: string | null;
  /** A name that stays with its user, where the provider gave one. */
  lastingName: string | null;
}

/** The user, and whether it was created just now. */
export interface Found {
  user: User;
  /** The address as the provider wrote it. */
  email: string;
  created: boolean;
}

/**
 * Finds, links or creates the user. Nothing is stored before it is clear that nothing is refused.
 * Runs inside the caller's transaction; when that fails, the caller has to take a created user out
 * of the accounts again.
 *
 * @throws {SsoRefusal} `email_missing`, `email_invalid`, `unknown_user`, `existing_user`,
 * `other_provider`, `name_id_changed`, `account_off`.
 * @throws {LimitError} When the license allows no more users.
 */
export function findUser(
  deps: ProvisioningDeps,
  provider: IdentityProvider,
  claim: Claim,
): Found {
  const { db } = deps;
  const email = usableEmail(claim.email);
  const lastingName = isFoundByName(provider) ? claim.lastingName : null;
  const user = userOfName(db, provider, lastingName) ?? selectUserByEmail(db, emailKey(email));
  if (!user) return { user: provision(deps, provider, email, lastingName), email, created: true };
  assertAlive(deps, user);
  vouch(deps, provider, user, lastingName);
  return { user, email, created: false };
}

/** @throws {SsoRefusal} */
function usableEmail(email: string | null): string {
  if (email === null) {
    throw notAllowed(
      "email_missing",
      "The identity provider names no email address; map the attribute that holds it",
    );
  }
  // Some letters fall together with ASCII ones when case is left out (U+212A, the Kelvin sign).
  const fallsTogether = (letter: string) => !isAscii(letter) && isAscii(emailKey(letter));
  // And some are not to be seen (U+3164): one with them would pass for another in every list.
  const isMisleading = /\p{Default_Ignorable_Code_Point}/u.test(email) ||
    [...email].some(fallsTogether);
  if (!isEmail(email) || isMisleading) {
    throw notAllowed("email_invalid", "What the identity provider names is no email address");
  }
  return email;
}

// deno-lint-ignore no-control-regex
const isAscii = (text: string) => /^[\x00-\x7F]*$/.test(text);

const isFoundByName = ({ name_id_format }: IdentityProvider) =>
  name_id_format === NAME_ID_PERSISTENT;

function userOfName(
  db: Deps["db"],
  { entity_id }: IdentityProvider,
  lastingName: string | null,
): User | undefined {
  if (lastingName === null) return undefined;
  const id = selectUserIdOfNameId(db, { entityId: entity_id, nameId: lastingName });
  return id === undefined ? undefined : selectUser(db, id);
}

/** In key mode a user with a password is off, and no identity provider brings it back. */
function assertAlive({ accounts }: Pick<Deps, "accounts">, { id, email }: User): void {
  if (accounts.roleOf({ userId: id, familyId: "" }) !== undefined) return;
  throw notAllowed(
    "account_off",
    `The user ${email} logs in by password, and users mode is off (AUTH_MODE=key)`,
  );
}

/** Sees to it that the provider may vouch for the user, and remembers that it does. */
function vouch(
  { db, now, log }: ProvisioningDeps,
  provider: IdentityProvider,
  user: User,
  lastingName: string | null,
): void {
  const key = { userId: user.id, entityId: provider.entity_id };
  const identity = selectIdentity(db, key);
  if (!identity) {
    assertLinkable(db, provider, user);
    insertIdentity(db, {
      user_id: user.id,
      entity_id: provider.entity_id,
      name_id: lastingName,
      provisioned: false,
      linked_at: now().toISOString(),
    });
    log.info("user linked to identity provider", { userId: user.id, providerId: provider.id });
    return;
  }
  // One that comes without a name, too, may be somebody else who was given the address.
  if (!isFoundByName(provider) || identity.name_id === lastingName) return;
  if (identity.name_id !== null && !provider.link_existing) {
    throw notAllowed(
      "name_id_changed",
      `The identity provider gave the address ${user.email} to somebody else than before, and ` +
        "it may not link existing users",
    );
  }
  if (lastingName !== null) updateIdentityNameId(db, { ...key, nameId: lastingName });
}

function assertLinkable(db: Deps["db"], provider: IdentityProvider, { id, email }: User): void {
  const other = selectProvisionerOfUser(db, id);
  if (other !== undefined) {
    throw notAllowed("other_provider", `The user ${email} belongs to another identity provider`);
  }
  if (!provider.link_existing) {
    throw notAllowed(
      "existing_user",
      `There is a user ${email} already, and the identity provider may not link existing users`,
    );
  }
}

function provision(
  deps: ProvisioningDeps,
  provider: IdentityProvider,
  email: string,
  lastingName: string | null,
): User {
  const { db, license, now } = deps;
  if (!provider.auto_provision) {
    throw notAllowed(
      "unknown_user",
      `There is no user ${email}, and the identity provider may not create users`,
    );
  }
  assertBelowLimit(license, "users", countUsers(db));
  const user = storeUser(deps, { email, passwordHash: null, role: provider.default_role });
  insertIdentity(db, {
    user_id: user.id,
    entity_id: provider.entity_id,
    name_id: lastingName,
    provisioned: true,
    linked_at: now().toISOString(),
  });
  return user;
}
