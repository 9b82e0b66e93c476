/** The OpenID Connect providers in force: those of the environment and the stored ones. @module */

import {
  hasEnabledOidcProvider,
  hasSharedOidcCallback,
  type OidcProvider as StoredProvider,
  selectOidcProvider,
  selectOidcProviders,
} from "../../../db/oidc_providers.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";
import { openOrConflict } from "../../secrets/secrets.ts";
import type { SignInProvider } from "../sign_in/providers.ts";

/** A provider with its secret. */
export interface OidcProvider extends Omit<StoredProvider, "clientSecret"> {
  /** Opens the client secret; `null` for a public client. @throws {AppError} `conflict`. */
  readSecret: () => string | null;
  /** Set in the environment, which the API cannot change. */
  readOnly: boolean;
}

type ProviderDeps = Pick<Deps, "config" | "db" | "secrets">;

export const secretPurpose = (id: string): string => `oidc provider ${id} client secret`;

/** All providers: those of the environment, then the stored ones by name. */
export function allOidcProviders(deps: ProviderDeps): OidcProvider[] {
  return [...ofEnvironment(deps), ...selectOidcProviders(deps.db).map(withSecret(deps))];
}

/** @throws {AppError} `not_found`. */
export function findOidcProvider(deps: ProviderDeps, id: string): OidcProvider {
  return requireFound(knownOidcProvider(deps, id), "Identity provider", id);
}

export function knownOidcProvider(deps: ProviderDeps, id: string): OidcProvider | undefined {
  const given = ofEnvironment(deps).find((provider) => provider.id === id);
  const stored = given ? undefined : selectOidcProvider(deps.db, id);
  return given ?? (stored && withSecret(deps)(stored));
}

/** Whether the sign-in page offers one. */
export const offersOidc = ({ accounts, config, db }: Pick<Deps, "accounts" | "config" | "db">) =>
  accounts.mode === "users" && (config.oidcProviders.length > 0 || hasEnabledOidcProvider(db));

/** The enabled ones, for the sign-in page; none in key mode. */
export function listOidcSignIns(deps: ProviderDeps & Pick<Deps, "accounts">): SignInProvider[] {
  if (deps.accounts.mode !== "users") return [];
  return allOidcProviders(deps).filter(({ enabled }) => enabled)
    .map(({ id, name }) => ({ id, name, kind: "oidc", path: `/auth/oidc/${id}/login` }));
}

const ofEnvironment = ({ config, db }: Pick<Deps, "config" | "db">): OidcProvider[] =>
  config.oidcProviders.map(({ clientSecret, callback, ...provider }) => ({
    ...provider,
    // A stored provider was the first.
    callback: callback === "shared" && hasSharedOidcCallback(db) ? "issuer" : callback,
    enabled: true,
    readSecret: () => clientSecret,
    readOnly: true,
    createdAt: UNKNOWN_TIME,
    updatedAt: UNKNOWN_TIME,
  }));

/** The environment has no times. */
const UNKNOWN_TIME = "1970-01-01T00:00:00.000Z";

const withSecret =
  ({ secrets }: Pick<Deps, "secrets">) =>
  ({ clientSecret, ...provider }: StoredProvider): OidcProvider => ({
    ...provider,
    readSecret: () =>
      clientSecret === null ? null : openOrConflict(
        () => secrets.open(clientSecret, secretPurpose(provider.id)),
        "enter the client secret of the identity provider again",
      ),
    readOnly: false,
  });
