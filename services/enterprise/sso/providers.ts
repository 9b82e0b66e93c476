/** SAML identity providers. @module */

import {
  countProviders,
  deleteProvider,
  type IdentityProvider,
  insertProvider,
  selectProvider,
  selectProviderByEntityId,
  selectProviders,
  updateProvider,
} from "../../../db/enterprise/sso/providers.ts";
import { updateIdentitiesEntityId } from "../../../db/enterprise/sso/identities.ts";
import type { Caller } from "../../access/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import { isProviderUrl, PROVIDER_URL_RULE } from "../../input/provider_url.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import type { SignInProvider } from "../../access/sign_in/providers.ts";
import { assertUsableIdpCertificates } from "../saml/certificate.ts";
import { isMetadata, signingCertificates } from "../saml/idp_metadata.ts";
import { serviceProviderFor } from "./service_provider.ts";
import { endSessionsOfProvider } from "./sessions.ts";

export const SSO_BINDINGS = ["HTTP-POST", "HTTP-Redirect"] as const;

export const PROVIDERS_MAX = 100;

export const SSO_URL_MAX = 2_048;

/** Maximum length of an entity ID in characters ("Assertions and Protocols for SAML V2.0", 8.3.6). */
export const ENTITY_ID_MAX = 1_024;

type NewProvider = Omit<IdentityProvider, "id" | "base_url" | "created_at" | "updated_at">;

/** A provider, with the entity ID and ACS URL to configure at it. */
interface ProviderView extends Omit<IdentityProvider, "base_url"> {
  sp_entity_id: string;
  acs_url: string;
}

type ProviderDeps = Pick<Deps, "db" | "config" | "now" | "log">;

export function listProviders(
  { db, config }: Pick<Deps, "db" | "config">,
): { providers: ProviderView[] } {
  return { providers: selectProviders(db).map((provider) => toProvider(config, provider)) };
}

/** The enabled ones, for the sign-in page. */
export const listSignInProviders = ({ db }: Pick<Deps, "db">): SignInProvider[] =>
  selectProviders(db).filter(({ enabled }) => enabled).map(({ id, name }) => ({
    id,
    name,
    kind: "saml",
    path: `/api/ext/service-enterprise/sso/login/${id}`,
  }));

/** @throws {AppError} `not_found`. */
export function getProvider({ db, config }: Pick<Deps, "db" | "config">, id: string): ProviderView {
  return toProvider(config, existingProvider(db, id));
}

/**
 * Stores a new provider.
 *
 * @param baseUrl The URL at which the admin reached this service.
 * @throws {AppError} `forbidden` unless the caller is an admin; `invalid` for an unusable URL or
 * certificate; `conflict` for an `entity_id` in use and at the limit of {@linkcode PROVIDERS_MAX}.
 */
export function createProvider(
  { db, config, now, log }: ProviderDeps,
  caller: Caller,
  input: NewProvider,
  baseUrl: string,
): ProviderView {
  assertCanTrust(caller);
  const settings = withoutMetadata(input);
  assertUsable(settings);
  assertEntityIdFree(db, input.entity_id);
  if (countProviders(db) >= PROVIDERS_MAX) throw tooMany("identity providers", PROVIDERS_MAX);
  const at = now().toISOString();
  const provider: IdentityProvider = {
    ...settings,
    id: crypto.randomUUID(),
    base_url: baseUrl,
    created_at: at,
    updated_at: at,
  };
  insertProvider(db, provider);
  log.info("identity provider created", { providerId: provider.id });
  return toProvider(config, provider);
}

/**
 * Changes the given fields of a provider. Its users stay linked even if `entity_id` changes.
 * Disabling a provider ends its sessions.
 *
 * @param baseUrl As for {@linkcode createProvider}.
 * @throws {AppError} `not_found`; `forbidden`, `invalid` and `conflict` as for a new provider.
 */
export function changeProvider(
  deps: ProviderDeps & Pick<Deps, "accounts">,
  caller: Caller,
  id: string,
  change: Change<NewProvider>,
  baseUrl: string,
): ProviderView {
  const { db, config, now, log } = deps;
  const before = existingProvider(db, id);
  assertCanTrust(caller);
  const provider: IdentityProvider = {
    ...withoutMetadata(applyChange(before, change)),
    base_url: baseUrl,
    updated_at: now().toISOString(),
  };
  assertUsable(provider);
  if (provider.entity_id !== before.entity_id) assertEntityIdFree(db, provider.entity_id);
  storeChange(deps, before, provider);
  log.info("identity provider changed", { providerId: id });
  return toProvider(config, provider);
}

/**
 * Enables or disables a provider. Disabling it ends its sessions.
 *
 * @param wanted Toggles the provider if omitted.
 * @throws {AppError} `not_found`; `forbidden` for enabling it, unless the caller is an admin.
 */
export function setProviderEnabled(
  deps: ProviderDeps & Pick<Deps, "accounts">,
  caller: Caller,
  id: string,
  wanted?: boolean,
): ProviderView {
  const before = existingProvider(deps.db, id);
  const enabled = wanted ?? !before.enabled;
  if (enabled && !before.enabled) assertCanTrust(caller);
  const provider = { ...before, enabled, updated_at: deps.now().toISOString() };
  storeChange(deps, before, provider);
  deps.log.info("identity provider toggled", { providerId: id, enabled: provider.enabled });
  return toProvider(deps.config, provider);
}

/**
 * Deletes a provider and ends its sessions. Its users are kept, but cannot log in until the provider
 * is created again or another one is allowed to link existing users.
 *
 * @throws {AppError} `not_found`.
 */
export function removeProvider(
  deps: Pick<Deps, "db" | "accounts" | "now" | "log">,
  id: string,
): void {
  existingProvider(deps.db, id);
  endSessionsOfProvider(deps, id, () => deleteProvider(deps.db, id));
  deps.log.info("identity provider deleted", { providerId: id });
}

/** Stores a change together with its effects on identities and sessions. */
function storeChange(
  deps: Pick<Deps, "db" | "accounts" | "now">,
  before: IdentityProvider,
  after: IdentityProvider,
): void {
  const { db } = deps;
  const change = () => {
    updateProvider(db, after);
    if (after.entity_id !== before.entity_id) {
      updateIdentitiesEntityId(db, { from: before.entity_id, to: after.entity_id });
    }
  };
  if (after.enabled) db.transaction(change);
  else endSessionsOfProvider(deps, after.id, change);
}

function toProvider(
  config: Pick<Deps["config"], "serviceBaseUrl">,
  provider: IdentityProvider,
): ProviderView {
  const { entityId, acsUrl } = serviceProviderFor(config, provider);
  const { base_url: _, ...fields } = provider;
  return { ...fields, sp_entity_id: entityId, acs_url: acsUrl };
}

/**
 * Requires an admin. The owner of a provider's certificate can log in as any of its users, including
 * admins, so that a custom role with `sso:write` must not choose it.
 */
function assertCanTrust({ role }: Caller): void {
  if (role === "admin") return;
  throw new AppError(
    "forbidden",
    "The role admin is required to create, change or enable an identity provider",
  );
}

/** Replaces metadata by the certificates in it. */
function withoutMetadata<Settings extends Pick<NewProvider, "certificate" | "entity_id">>(
  settings: Settings,
): Settings {
  const { certificate, entity_id } = settings;
  if (!isMetadata(certificate)) return settings;
  return { ...settings, certificate: signingCertificates(certificate, entity_id) };
}

function assertUsable(
  { sso_url, slo_url, certificate }: Pick<NewProvider, "sso_url" | "slo_url" | "certificate">,
): void {
  assertBrowserUrl("sso_url", sso_url);
  if (slo_url !== null) assertBrowserUrl("slo_url", slo_url);
  assertUsableIdpCertificates(certificate);
}

/** @throws {AppError} `invalid`. */
function assertBrowserUrl(field: string, text: string): void {
  if (!isProviderUrl(text)) throw new AppError("invalid", `body.${field}: ${PROVIDER_URL_RULE}`);
}

function assertEntityIdFree(db: Deps["db"], entityId: string): void {
  if (selectProviderByEntityId(db, entityId)) {
    throw new AppError("conflict", `Another identity provider has the entity_id ${entityId}`);
  }
}

function existingProvider(db: Deps["db"], id: string): IdentityProvider {
  return requireFound(selectProvider(db, id), "Identity provider", id);
}
