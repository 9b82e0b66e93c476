/** OpenID Connect providers as the API shows and changes them. @module */

import {
  countOidcProviders,
  deleteOidcProvider,
  insertOidcProvider,
  type OidcProvider as StoredProvider,
  selectOidcProvider,
  updateOidcProvider,
} from "../../../db/oidc_providers.ts";
import { deleteOidcRequestsOfProvider } from "../../../db/oidc_requests.ts";
import { selectSessionIdsOfOidcProvider } from "../../../db/oidc_sessions.ts";
import { applyChange, type Change } from "../../change.ts";
import { OIDC_PROVIDERS_MAX } from "../../config/oidc.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import { isProviderUrl, PROVIDER_URL_RULE } from "../../input/provider_url.ts";
import { assertOutboundUrl, type OutboundDeps } from "../../outbound/url.ts";
import { REDACTED } from "../../text/redact.ts";
import { revokeFamilies } from "../sign_in/families.ts";
import {
  allOidcProviders,
  findOidcProvider,
  type OidcProvider,
  secretPurpose,
} from "./provider.ts";
import { forgetProvider } from "./cache.ts";
import { callbackPathOf, chooseCallback } from "./callback.ts";
import { isUserRole } from "./claims.ts";

/** A provider as an admin enters it. */
export type NewOidcProvider = Omit<StoredProvider, "id" | "callback" | "createdAt" | "updatedAt">;

/** A provider as the API returns it; the secret is redacted. */
export interface OidcProviderView extends StoredProvider {
  readOnly: boolean;
  /** The redirect URI to enter at the provider. */
  callbackUrl: string;
  /** The address for its back-channel logout. */
  backchannelLogoutUrl: string;
}

type ProviderDeps =
  & OutboundDeps
  & Pick<Deps, "accounts" | "db" | "groupRoles" | "secrets" | "now" | "log" | "oidc">;

/** Those of the environment, then the stored ones by name. @param baseUrl Of this service. */
export const listOidcProviders = (deps: ProviderDeps, baseUrl: string): OidcProviderView[] =>
  allOidcProviders(deps).map((provider) => toView(provider, baseUrl));

/** @throws {AppError} `not_found`. */
export const getOidcProvider = (
  deps: ProviderDeps,
  id: string,
  baseUrl: string,
): OidcProviderView => toView(findOidcProvider(deps, id), baseUrl);

/**
 * Stores a new provider.
 *
 * @throws {AppError} `invalid` for an unusable issuer or scopes, or an unknown role; `conflict` at the limit of
 * {@linkcode OIDC_PROVIDERS_MAX}.
 */
export async function createOidcProvider(
  deps: ProviderDeps,
  input: NewOidcProvider,
  baseUrl: string,
): Promise<OidcProviderView> {
  const { db, secrets, now, log } = deps;
  assertValid(input);
  assertRoles(deps, input.roleMap);
  if (input.clientSecret === REDACTED) throw missingSecret();
  await assertOutboundUrl(deps, input.issuer, "internal", "body.issuer");
  assertBelowMax(deps);
  const id = crypto.randomUUID();
  const callback = await chooseCallback(deps, { ...input, id });
  // No await from here on, so that concurrent requests cannot exceed the limit.
  assertBelowMax(deps);
  const at = now().toISOString();
  const clientSecret = input.clientSecret === null
    ? null
    : secrets.seal(input.clientSecret, secretPurpose(id));
  const stored = { ...input, id, callback: callback(), clientSecret, createdAt: at, updatedAt: at };
  insertOidcProvider(db, stored);
  log.info("identity provider created", { providerId: id });
  return getOidcProvider(deps, id, baseUrl);
}

/**
 * Changes the given fields; `null` clears a field, and the secret `********` keeps the stored one
 * unless the issuer changes. Sessions end when the provider is disabled or another issuer.
 *
 * @throws {AppError} `not_found`; `conflict` for a provider of the environment; `invalid` as for a
 * new one.
 */
export async function changeOidcProvider(
  deps: ProviderDeps,
  id: string,
  { clientSecret, ...change }: Change<NewOidcProvider>,
  baseUrl: string,
): Promise<OidcProviderView> {
  const { db, secrets, now, log } = deps;
  const { issuer } = change;
  let callback: (() => StoredProvider["callback"]) | undefined;
  const found = findStored(deps, id);
  if (issuer !== undefined) {
    assertIssuer(issuer);
    await assertOutboundUrl(deps, issuer, "internal", "body.issuer");
    if (issuer !== found.issuer) {
      callback = await chooseCallback(deps, { ...found, issuer }, found.callback);
    }
  }
  const before = findStored(deps, id);
  const after = { ...applyChange(before, change), updatedAt: now().toISOString() };
  if (callback) after.callback = callback();
  assertValid(after);
  // One that was stored may name a custom role that was deleted since.
  if (change.roleMap !== undefined) assertRoles(deps, after.roleMap);
  const isElsewhere = after.issuer !== before.issuer;
  const isKept = clientSecret === undefined || clientSecret === REDACTED;
  // A secret must not be sent to an address that someone else has entered.
  if (isKept && isElsewhere && before.clientSecret !== null) throw missingSecret();
  if (!isKept) {
    after.clientSecret = clientSecret === null
      ? null
      : secrets.seal(clientSecret, secretPurpose(id));
  }
  if (after.enabled && !isElsewhere) updateOidcProvider(db, after);
  else endSessions(deps, id, () => updateOidcProvider(db, after));
  forgetProvider(deps.oidc, id);
  log.info("identity provider changed", { providerId: id });
  return getOidcProvider(deps, id, baseUrl);
}

/** @throws {AppError} `conflict`. */
function assertBelowMax({ config, db }: Pick<Deps, "config" | "db">): void {
  if (countOidcProviders(db) + config.oidcProviders.length < OIDC_PROVIDERS_MAX) return;
  throw tooMany("OpenID Connect providers", OIDC_PROVIDERS_MAX);
}

/** A misspelled role would refuse its users. @throws {AppError} `invalid`. */
function assertRoles(
  { groupRoles }: Pick<Deps, "groupRoles">,
  roleMap: NewOidcProvider["roleMap"],
): void {
  const unknown = roleMap.find(({ role }) => !isUserRole(role) && !groupRoles.current.has(role));
  if (!unknown) return;
  throw new AppError(
    "invalid",
    `body.roleMap: role ${unknown.role} does not exist; use viewer, operator, admin or a custom ` +
      "role (Enterprise)",
  );
}

/**
 * Deletes a provider and ends its sessions. Its users are kept, and find their accounts again if a
 * provider with the same issuer is added.
 *
 * @throws {AppError} `not_found`; `conflict` for a provider of the environment.
 */
export function removeOidcProvider(deps: ProviderDeps, id: string): void {
  findStored(deps, id);
  endSessions(deps, id, () => deleteOidcProvider(deps.db, id));
  forgetProvider(deps.oidc, id);
  deps.log.info("identity provider deleted", { providerId: id });
}

function endSessions(deps: ProviderDeps, id: string, change: () => void): void {
  revokeFamilies(deps, () => {
    const sessions = selectSessionIdsOfOidcProvider(deps.db, id);
    deleteOidcRequestsOfProvider(deps.db, id);
    change();
    return sessions;
  });
}

function findStored({ config, db }: ProviderDeps, id: string): StoredProvider {
  if (config.oidcProviders.some((given) => given.id === id)) {
    throw new AppError(
      "conflict",
      "This identity provider is set by environment variables (OIDC_…); change it there",
    );
  }
  return requireFound(selectOidcProvider(db, id), "Identity provider", id);
}

/** @throws {AppError} `invalid`. */
function assertValid({ issuer, scopes }: Pick<NewOidcProvider, "issuer" | "scopes">): void {
  assertIssuer(issuer);
  if (scopes.split(" ").includes("openid")) return;
  throw new AppError("invalid", "body.scopes: must contain openid");
}

/** @throws {AppError} `invalid`. */
function assertIssuer(issuer: string): void {
  if (!isProviderUrl(issuer)) throw new AppError("invalid", `body.issuer: ${PROVIDER_URL_RULE}`);
  if (issuer.includes("?")) throw new AppError("invalid", "body.issuer: must not have a query");
}

const missingSecret = () =>
  new AppError("invalid", `body.clientSecret: enter the secret itself instead of ${REDACTED}`);

function toView(
  { readSecret, ...provider }: OidcProvider,
  baseUrl: string,
): OidcProviderView {
  return {
    ...provider,
    clientSecret: hasSecret(readSecret) ? REDACTED : null,
    callbackUrl: baseUrl + callbackPathOf(provider),
    backchannelLogoutUrl: `${baseUrl}/auth/oidc/backchannel-logout`,
  };
}

/** A secret that cannot be decrypted is shown as well, so that it can be entered again. */
function hasSecret(read: () => string | null): boolean {
  try {
    return read() !== null;
  } catch {
    return true;
  }
}
