/**
 * Identity providers: who may vouch for users, and how far.
 *
 * @module
 */

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
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { assertUsableIdpCertificate } from "../saml/certificate.ts";
import { serviceProviderFor } from "./service_provider.ts";
import { endSessionsOfProvider } from "./sessions.ts";

export type { IdentityProvider };

export const SSO_BINDINGS = ["HTTP-POST", "HTTP-Redirect"] as const;

/** Most identity providers. */
export const PROVIDERS_MAX = 100;

export const SSO_URL_MAX = 2_048;

/** Longest entity id ("Assertions and Protocols for SAML V2.0", 8.3.6), in characters. */
export const ENTITY_ID_MAX = 1_024;

export type NewProvider =
  & Omit<
    IdentityProvider,
    "id" | "base_url" | "created_at" | "updated_at" | "attribute_mapping"
  >
  & { attribute_mapping: { email?: string | undefined; name?: string | undefined } };

/** What an update may say; what it leaves out stays. */
export type ProviderChange = { [Field in keyof NewProvider]?: NewProvider[Field] | undefined };

/** A provider, and what it has to be told of this service. */
export interface ProviderView extends Omit<IdentityProvider, "base_url"> {
  sp_entity_id: string;
  acs_url: string;
}

type ProviderDeps = Pick<Deps, "db" | "config" | "now" | "log">;

/** All of them by name. */
export function listProviders(
  { db, config }: Pick<Deps, "db" | "config">,
): { providers: ProviderView[] } {
  return { providers: selectProviders(db).map((provider) => viewOf(config, provider)) };
}

/** @throws {AppError} `not_found`. */
export function getProvider(
  { db, config }: Pick<Deps, "db" | "config">,
  id: string,
): ProviderView {
  return viewOf(config, existingProvider(db, id));
}

/**
 * Stores a new provider.
 *
 * @param baseUrl The address at which the admin reached this service.
 * @throws {AppError} `forbidden` for who is no admin; `invalid` for an address or a certificate
 * that cannot be used; `conflict` for an `entity_id` that another provider has, and when there are
 * too many.
 */
export function createProvider(
  { db, config, now, log }: ProviderDeps,
  caller: Caller,
  input: NewProvider,
  baseUrl: string,
): ProviderView {
  assertMayTrust(caller);
  assertUsable(input);
  assertEntityIdFree(db, input.entity_id);
  if (countProviders(db) >= PROVIDERS_MAX) {
    throw new AppError("conflict", `There are ${PROVIDERS_MAX} identity providers, and no more`);
  }
  const at = now().toISOString();
  const provider: IdentityProvider = {
    ...input,
    attribute_mapping: withoutGaps(input.attribute_mapping),
    id: crypto.randomUUID(),
    base_url: baseUrl,
    created_at: at,
    updated_at: at,
  };
  insertProvider(db, provider);
  log.info("identity provider created", { providerId: provider.id });
  return viewOf(config, provider);
}

/**
 * Changes what is given and keeps the rest. Its users stay its users, also under another
 * `entity_id`; one that is disabled by it loses its sessions.
 *
 * @param baseUrl As for a new one.
 * @throws {AppError} `not_found`; `forbidden`, `invalid` and `conflict` as for a new one.
 */
export function changeProvider(
  deps: ProviderDeps & Pick<Deps, "accounts">,
  caller: Caller,
  id: string,
  change: ProviderChange,
  baseUrl: string,
): ProviderView {
  const { db, config, now, log } = deps;
  const before = existingProvider(db, id);
  assertMayTrust(caller);
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as Partial<NewProvider>;
  const changed = { ...before, ...given };
  const provider: IdentityProvider = {
    ...changed,
    attribute_mapping: withoutGaps(changed.attribute_mapping),
    base_url: baseUrl,
    updated_at: now().toISOString(),
  };
  assertUsable(provider);
  if (provider.entity_id !== before.entity_id) assertEntityIdFree(db, provider.entity_id);
  store(deps, before, provider);
  log.info("identity provider changed", { providerId: id });
  return viewOf(config, provider);
}

/**
 * Enables or disables a provider; one that is disabled loses its sessions.
 *
 * @param wanted The opposite of what it is unless given.
 * @throws {AppError} `not_found`; `forbidden` for who may not trust a provider, only stop it.
 */
export function setProviderEnabled(
  deps: ProviderDeps & Pick<Deps, "accounts">,
  caller: Caller,
  id: string,
  wanted?: boolean,
): ProviderView {
  const before = existingProvider(deps.db, id);
  const enabled = wanted ?? !before.enabled;
  if (enabled && !before.enabled) assertMayTrust(caller);
  const provider = { ...before, enabled, updated_at: deps.now().toISOString() };
  store(deps, before, provider);
  deps.log.info("identity provider toggled", { providerId: id, enabled: provider.enabled });
  return viewOf(deps.config, provider);
}

/**
 * Deletes a provider and ends its sessions. Its users stay, and cannot log in until the provider
 * is set up again, or another one that may link existing users.
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

/** Stores a change with what follows from it. */
function store(
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

function viewOf(
  config: Pick<Deps["config"], "serviceBaseUrl">,
  provider: IdentityProvider,
): ProviderView {
  const { entityId, acsUrl } = serviceProviderFor(config, provider);
  const { base_url: _, ...shown } = provider;
  return { ...shown, sp_entity_id: entityId, acs_url: acsUrl };
}

/**
 * Whoever chooses the certificate can sign for everybody whom the provider vouches for, admins
 * among them. A custom role that grants `sso:write` must not be a way to their rights.
 */
function assertMayTrust({ role }: Caller): void {
  if (role === "admin") return;
  throw new AppError(
    "forbidden",
    "The role admin is required to say whom an identity provider may log in",
  );
}

function assertUsable(
  { sso_url, slo_url, certificate }: Pick<NewProvider, "sso_url" | "slo_url" | "certificate">,
): void {
  assertBrowserUrl("sso_url", sso_url);
  if (slo_url !== null) assertBrowserUrl("slo_url", slo_url);
  assertUsableIdpCertificate(certificate);
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * A browser is sent there together with what logs its user in, so nobody on the way may read or
 * change it; on the machine itself there is no way.
 */
function assertBrowserUrl(field: string, text: string): void {
  const url = text.length <= SSO_URL_MAX && /^https?:\/\/[^\s\p{C}]+$/iu.test(text)
    ? URL.parse(text)
    : null;
  const isSafe = url?.protocol === "https:" || LOOPBACK.test(url?.hostname ?? "");
  if (!url || !isSafe || url.username !== "" || url.password !== "" || text.includes("#")) {
    throw new AppError(
      "invalid",
      `body.${field}: must be an https address (http only for this machine itself) without ` +
        "credentials and fragment",
    );
  }
}

function assertEntityIdFree(db: Deps["db"], entityId: string): void {
  if (selectProviderByEntityId(db, entityId)) {
    throw new AppError("conflict", `Another identity provider has the entity_id ${entityId}`);
  }
}

function withoutGaps(
  { email, name }: NewProvider["attribute_mapping"],
): IdentityProvider["attribute_mapping"] {
  return { ...(email !== undefined && { email }), ...(name !== undefined && { name }) };
}

function existingProvider(db: Deps["db"], id: string): IdentityProvider {
  const provider = selectProvider(db, id);
  if (!provider) throw notFound("Identity provider", id);
  return provider;
}
