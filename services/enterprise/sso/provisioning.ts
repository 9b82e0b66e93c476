/**
 * Maps the subject of an assertion to a user, and links or creates that user.
 *
 * Users are found by email. An identity provider must not log in arbitrary users by their address:
 * it can log in the users created for it, and other users only if the administrator allows it to
 * link them (`link_existing`). It can never log in users created for another existing provider. If
 * the provider sends persistent NameIDs, these identify the user: an address that was reassigned
 * does not give access to the account of its former owner, and a user whose address changes keeps
 * the account.
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
import { countUsers, selectUser, selectUserByEmail, type User } from "../../../db/users.ts";
import {
  assertActive,
  assertEmailConfirmed,
  assertNotSuspended,
  removeForeignAccess,
  usableEmail,
} from "../../access/sign_in/external_users.ts";
import { emailKey } from "../../access/users/emails.ts";
import { storeUser } from "../../access/users/users.ts";
import type { Deps } from "../../deps.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import { NAME_ID_PERSISTENT } from "../saml/name_id.ts";
import { notAllowed } from "./refusal.ts";

const EMAIL_SOURCE = { name: "The assertion", remedy: "configure attribute_mapping.email" };

type ProvisioningDeps = Pick<Deps, "db" | "accounts" | "license" | "now" | "log">;

/** The fields of a verified assertion that identify its subject. */
interface Subject {
  email: string | null;
  /** The persistent NameID, if the provider sent one. */
  persistentId: string | null;
}

export interface ProvisionedUser {
  user: User;
  /** The address as the provider sent it. */
  email: string;
  /** Whether the user was created by this login. */
  isNew: boolean;
  /** Whether the user existed, and is linked by this login: earlier sessions must end. */
  isLinked: boolean;
}

/**
 * Finds, links or creates the user. Stores nothing if the login is refused. Runs inside the caller's
 * transaction; if that fails, the caller has to remove a new user from the accounts again.
 *
 * @throws {SignInRefusal} `email_missing`, `email_invalid`, `unknown_user`, `existing_user`,
 * `email_unconfirmed`, `other_provider`, `name_id_changed`, `account_off`, `suspended`.
 * @throws {LimitError} If the license limit of users is reached.
 */
export function findUser(
  deps: ProvisioningDeps,
  provider: IdentityProvider,
  subject: Subject,
): ProvisionedUser {
  const { db } = deps;
  const email = usableEmail(subject.email, EMAIL_SOURCE);
  const persistentId = usesPersistentId(provider) ? subject.persistentId : null;
  const linked = selectLinkedUser(db, provider, persistentId);
  const user = linked ?? selectUserByEmail(db, emailKey(email));
  if (!user) {
    const created = provision(deps, provider, email, persistentId);
    return { user: created, email, isNew: true, isLinked: false };
  }
  assertActive(deps, user);
  assertNotSuspended(deps, user);
  if (!linked) assertEmailConfirmed(db, user);
  const isLinked = linkIdentity(deps, provider, user, persistentId);
  return { user, email, isNew: false, isLinked };
}

const usesPersistentId = ({ name_id_format }: IdentityProvider) =>
  name_id_format === NAME_ID_PERSISTENT;

function selectLinkedUser(
  db: Deps["db"],
  { entity_id }: IdentityProvider,
  persistentId: string | null,
): User | undefined {
  if (persistentId === null) return undefined;
  const id = selectUserIdOfNameId(db, { entityId: entity_id, nameId: persistentId });
  return id === undefined ? undefined : selectUser(db, id);
}

/** Links the user to the provider, or checks the existing link. @returns Whether it is new. */
function linkIdentity(
  deps: ProvisioningDeps,
  provider: IdentityProvider,
  user: User,
  persistentId: string | null,
): boolean {
  const { db, now, log } = deps;
  const key = { userId: user.id, entityId: provider.entity_id };
  const identity = selectIdentity(db, key);
  if (!identity) {
    assertLinkable(db, provider, user);
    removeForeignAccess(deps, user);
    insertIdentity(db, {
      user_id: user.id,
      entity_id: provider.entity_id,
      name_id: persistentId,
      provisioned: false,
      linked_at: now().toISOString(),
    });
    log.info("user linked to identity provider", { userId: user.id, providerId: provider.id });
    return true;
  }
  // A subject without a persistent NameID may also be a new owner of the address.
  if (!usesPersistentId(provider) || identity.name_id === persistentId) return false;
  if (identity.name_id !== null && !provider.link_existing) {
    throw notAllowed(
      "name_id_changed",
      `The address ${user.email} now belongs to another subject of the identity provider, which ` +
        "is not allowed to link existing users",
    );
  }
  if (persistentId === null) return false;
  if (identity.name_id === null) {
    updateIdentityNameId(db, { ...key, nameId: persistentId });
    return false;
  }
  // The address has another owner now.
  removeForeignAccess(deps, user, { always: true });
  insertIdentity(db, { ...identity, name_id: persistentId });
  return true;
}

function assertLinkable(db: Deps["db"], provider: IdentityProvider, { id, email }: User): void {
  const other = selectProvisionerOfUser(db, id);
  if (other !== undefined) {
    throw notAllowed("other_provider", `User ${email} belongs to another identity provider`);
  }
  if (!provider.link_existing) {
    throw notAllowed(
      "existing_user",
      `User ${email} already exists, and the identity provider is not allowed to link existing users`,
    );
  }
}

function provision(
  deps: ProvisioningDeps,
  provider: IdentityProvider,
  email: string,
  persistentId: string | null,
): User {
  const { db, license, now } = deps;
  if (!provider.auto_provision) {
    throw notAllowed(
      "unknown_user",
      `User ${email} does not exist, and the identity provider is not allowed to create users`,
    );
  }
  assertBelowLimit(license, "users", countUsers(db));
  const user = storeUser(deps, {
    ...{ email, passwordHash: null, role: provider.default_role },
    // A provider that may not link does not prove whose the address is.
    hasForeignAccess: !provider.link_existing,
  });
  insertIdentity(db, {
    user_id: user.id,
    entity_id: provider.entity_id,
    name_id: persistentId,
    provisioned: true,
    linked_at: now().toISOString(),
  });
  return user;
}
