/**
 * Logins started by this service: the browser is redirected to the identity provider with an
 * AuthnRequest, which the SAML response has to answer (InResponseTo).
 *
 * @module
 */

import { type IdentityProvider, selectProvider } from "../../../db/enterprise/sso/providers.ts";
import {
  insertRequest,
  type SamlRequest,
  selectRequest,
  updateRequestUsed,
} from "../../../db/enterprise/sso/requests.ts";
import { LOGIN_S, type LoginBrowser } from "../../access/sign_in/login_browser.ts";
import { makeRoom } from "../../access/sign_in/room.ts";
import { addressGroup } from "../../access/address_group.ts";
import { randomText } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { notFound, requireFound } from "../../errors.ts";
import type { AuthnRequestMessage } from "../saml/request.ts";
import type { VerifiedAssertion } from "../saml/response.ts";
import { serviceProviderFor } from "./service_provider.ts";
import { assertProviderEnabled, notAuthenticated } from "./refusal.ts";

/** Random bytes of a request ID ("Core", 1.3.4, requires at least 128 bits). */
const REQUEST_ID_BYTES = 20;

/**
 * Starts a login at an identity provider.
 *
 * @param from.address Address of the client.
 * @param from.relayState Returned unchanged with the SAML response.
 * @throws {AppError} `not_found` for an unknown provider; `forbidden` for a disabled one.
 */
export async function beginLogin(
  { db, config, now }: Pick<Deps, "db" | "config" | "now">,
  providerId: string,
  { address, relayState }: { address: string; relayState: string | undefined },
  browser?: LoginBrowser,
): Promise<AuthnRequestMessage> {
  const provider = requireFound(selectProvider(db, providerId), "Identity provider", providerId);
  assertProviderEnabled(provider);
  const { entityId, acsUrl } = serviceProviderFor(config, provider);
  const issuedAt = now();
  // An XML ID must not start with a digit.
  const id = `_${randomText(REQUEST_ID_BYTES)}`;
  const { createAuthnRequest } = await import("../saml/request.ts");
  const message = await createAuthnRequest({
    id,
    issuedAt,
    destination: provider.sso_url,
    acsUrl,
    issuer: entityId,
    binding: provider.binding,
    ...(provider.name_id_format !== null && { nameIdFormat: provider.name_id_format }),
    ...(relayState !== undefined && { relayState }),
  });

  db.transaction(() => {
    // The provider may have been deleted while the request was created.
    if (!selectProvider(db, providerId)) throw notFound("Identity provider", providerId);
    makeRoom({ db }, "saml_requests");
    insertRequest(db, {
      id,
      provider_id: providerId,
      expires_at: new Date(issuedAt.getTime() + LOGIN_S * 1000).toISOString(),
      browser_hash: browser?.hash ?? null,
      page_hash: browser?.pageHash ?? null,
      return_to: browser?.returnTo ?? null,
      client: addressGroup(address),
    });
  });
  return message;
}

/**
 * Marks the request that an assertion answers as used. An assertion without InResponseTo is accepted
 * if the provider allows unsolicited responses. Runs inside the caller's transaction.
 *
 * @returns The browser that began the login, if it gets a session.
 * @throws {SignInRefusal} `unsolicited`, `request_unknown`, `request_foreign`, `request_used`,
 * `request_expired`.
 */
export function useRequest(
  { db, now }: Pick<Deps, "db" | "now">,
  provider: IdentityProvider,
  { inResponseTo }: Pick<VerifiedAssertion, "inResponseTo">,
): LoginBrowser | undefined {
  if (inResponseTo === null) {
    if (provider.allow_unsolicited) return undefined;
    throw notAuthenticated(
      "unsolicited",
      "The response is unsolicited, which is not allowed for this identity provider",
    );
  }
  const at = now().toISOString();
  const request = selectRequest(db, inResponseTo);
  if (!request) {
    throw notAuthenticated("request_unknown", "The assertion answers an unknown request");
  }
  if (request.provider_id !== provider.id) {
    throw notAuthenticated(
      "request_foreign",
      "The assertion answers a request to another identity provider",
    );
  }
  if (request.used_at !== null) {
    throw notAuthenticated("request_used", "The request has already been answered");
  }
  if (request.expires_at <= at) {
    throw notAuthenticated("request_expired", "The login request has expired; log in again");
  }
  updateRequestUsed(db, request.id, at);
  return browserOf(request);
}

/** The browser that an unverified response claims to answer. */
export function claimedBrowser(
  { db }: Pick<Deps, "db">,
  inResponseTo: string | undefined,
): LoginBrowser | undefined {
  const request = inResponseTo === undefined ? undefined : selectRequest(db, inResponseTo);
  return request && browserOf(request);
}

function browserOf({ browser_hash: hash, page_hash: pageHash, return_to }: SamlRequest) {
  if (hash === null || pageHash === null) return undefined;
  return { hash, pageHash, returnTo: return_to ?? "/" };
}
