/** Identities: the names by which identity providers know a user, and unlinking them. @module */

import { countPasskeys } from "../../../db/passkeys.ts";
import {
  deleteProviderIdentity,
  isSessionOfProvider,
  type ProviderIdentity,
  selectProviderIdentities,
} from "../../../db/provider_identities.ts";
import { selectPasswordHash, type User } from "../../../db/users.ts";
import { sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Caller } from "../caller.ts";
import {
  type NeededProof,
  neededProof,
  type Proof,
  type ProofDeps,
  requireProof,
} from "../factors/proof.ts";
import { allOidcProviders } from "../oidc/provider.ts";
import { isShutOut } from "../sign_in/external_users.ts";
import { revokeFamiliesOfUser } from "../sign_in/families.ts";
import { findActiveUser } from "./users.ts";

/** An identity of a user. */
interface Identity extends ProviderIdentity {
  id: string;
  /** The name of the provider; `null` if it was removed. */
  provider: string | null;
  /** Whether the provider decides about the user's role. */
  setsRole: boolean;
  /** Whether the user cannot sign in without it. */
  isOnlyWayIn: boolean;
}

type ReadDeps = Pick<Deps, "accounts" | "config" | "db" | "secrets" | "signInProviders">;

type UnlinkDeps = ReadDeps & Pick<Deps, "now" | "log">;

/** The identities of a user, oldest first. @throws {AppError} `not_found`, also in key mode. */
export function listIdentities(deps: ReadDeps, userId: string): Identity[] {
  findActiveUser(deps, userId);
  const found = selectProviderIdentities(deps.db, userId).map((identity) => ({
    ...identity,
    id: sha256(JSON.stringify([identity.kind, identity.issuer])),
    ...describeProvider(deps, identity),
  }));
  return found.map(({ isUsable: _, ...identity }) => {
    const others = found.filter(({ id }) => id !== identity.id);
    return { ...identity, isOnlyWayIn: !hasOtherWay(deps, userId, others) };
  });
}

/** Those of the caller, and what unlinking one needs. @throws {AppError} `not_found` in key mode. */
export const listOwnIdentities = (
  deps: ReadDeps & Pick<Deps, "now">,
  caller: Caller,
): { identities: Identity[]; proof: NeededProof | null } => ({
  identities: listIdentities(deps, caller.userId),
  proof: neededProof(deps, caller),
});

/**
 * Unlinks an identity of another user, and ends their sessions. Roles that the provider has given stay.
 *
 * @returns The user and the identity.
 * @throws {AppError} `not_found`; `conflict` for the caller's own account.
 */
export function unlinkIdentity(
  deps: UnlinkDeps,
  caller: Caller,
  userId: string,
  id: string,
): { user: User; identity: Identity } {
  const user = findActiveUser(deps, userId);
  if (caller.userId === userId) {
    throw new AppError("conflict", "Unlink your own identities in your account");
  }
  const identity = findIdentity(deps, userId, id);
  unlink(deps, userId, identity);
  return { user, identity };
}

/**
 * Unlinks an identity of the caller, and ends their other sessions; the current one if it began there.
 *
 * @throws {AppError} `not_found`; `conflict` for the only way in; `forbidden` for a provider that decides
 * about the caller's role, and as {@linkcode requireProof}.
 * @throws {ThrottledError} As {@linkcode requireProof}.
 */
export async function unlinkOwnIdentity(
  deps: UnlinkDeps & ProofDeps,
  caller: Caller,
  id: string,
  proof: Proof,
): Promise<Identity> {
  const { userId, familyId } = caller;
  findIdentity(deps, userId, id);
  await requireProof(deps, caller, proof);
  // Another way in may have been removed meanwhile.
  const identity = findIdentity(deps, userId, id);
  const name = identity.provider ?? identity.issuer;
  if (identity.setsRole) {
    throw new AppError(
      "forbidden",
      `${name} decides about your role; an administrator can unlink it`,
    );
  }
  if (identity.isOnlyWayIn) {
    throw new AppError("conflict", `You could not sign in without ${name}`);
  }
  const isOfSession = isSessionOfProvider(deps.db, familyId, identity);
  unlink(deps, userId, identity, isOfSession ? undefined : familyId);
  return identity;
}

function unlink(deps: UnlinkDeps, userId: string, identity: Identity, except?: string): void {
  const { kind, issuer } = identity;
  revokeFamiliesOfUser(deps, userId, {
    change: () => deleteProviderIdentity(deps.db, { userId, kind, issuer }),
    except,
  });
  deps.log.info("user unlinked from identity provider", { userId, kind, issuer });
}

function findIdentity(deps: ReadDeps, userId: string, id: string): Identity {
  const identity = listIdentities(deps, userId).find((each) => each.id === id);
  if (!identity) throw notFound("Identity", id);
  return identity;
}

function describeProvider(
  deps: ReadDeps,
  { kind, issuer, samlId, samlName }: ReturnType<typeof selectProviderIdentities>[number],
): Pick<Identity, "provider" | "setsRole"> & { isUsable: boolean } {
  if (kind === "saml") {
    const isUsable = deps.signInProviders.list().some(({ id }) => id === samlId);
    return { provider: samlName, setsRole: false, isUsable };
  }
  const providers = allOidcProviders(deps).filter((provider) => provider.issuer === issuer);
  return {
    provider: providers[0]?.name ?? null,
    setsRole: providers.some(({ rolesClaim }) => rolesClaim !== null),
    isUsable: providers.some(({ enabled }) => enabled),
  };
}

/**
 * Whether a user signs in with other identities, by password or, if that is disabled, by passkey; a
 * suspended one does not.
 */
function hasOtherWay(
  { accounts, config, db }: ReadDeps,
  userId: string,
  others: readonly { isUsable: boolean }[],
): boolean {
  if (isShutOut({ accounts, db }, userId)) return false;
  if (others.some(({ isUsable }) => isUsable)) return true;
  if (selectPasswordHash(db, userId) === null) return false;
  return config.passwordLogin === "on" || others.length === 0 && countPasskeys(db, userId) > 0;
}
