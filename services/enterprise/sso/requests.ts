/**
 * Logins that are begun here: a browser is sent to an identity provider with a request, which that
 * has to answer.
 *
 * @module
 */

import { type IdentityProvider, selectProvider } from "../../../db/enterprise/sso/providers.ts";
import {
  countRequests,
  deleteOldestRequests,
  insertRequest,
  selectRequest,
  updateRequestUsed,
} from "../../../db/enterprise/sso/requests.ts";
import { randomText } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import type { AuthnRequestMessage } from "../saml/request.ts";
import type { VerifiedAssertion } from "../saml/response.ts";
import { serviceProviderFor } from "./service_provider.ts";
import { assertProviderEnabled, notProven } from "./refusal.ts";

/** How long the identity provider's answer is waited for: time to find one's second factor. */
const REQUEST_MS = 15 * 60 * 1000;

/** Most requests at a time; beyond, the oldest is forgotten, for anybody can make some. */
const REQUESTS_MAX = 10_000;

/** Bits of a request's id that nobody guesses ("Core", 1.3.4: at least 128), in bytes. */
const REQUEST_ID_BYTES = 20;

/**
 * Begins a login at an identity provider.
 *
 * @param relayState Comes back with the answer.
 * @throws {AppError} `not_found` for an unknown provider; `forbidden` for a disabled one.
 */
export async function beginLogin(
  { db, config, now }: Pick<Deps, "db" | "config" | "now">,
  providerId: string,
  relayState: string | undefined,
): Promise<AuthnRequestMessage> {
  const provider = selectProvider(db, providerId);
  if (!provider) throw notFound("Identity provider", providerId);
  assertProviderEnabled(provider);
  const { entityId, acsUrl } = serviceProviderFor(config, provider);
  const issuedAt = now();
  // An XML id does not begin with a digit.
  const id = `_${randomText(REQUEST_ID_BYTES)}`;
  const { authnRequest } = await import("../saml/request.ts");
  const redirect = await authnRequest({
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
    // It may have been deleted while the request was written.
    if (!selectProvider(db, providerId)) throw notFound("Identity provider", providerId);
    const surplus = countRequests(db) + 1 - REQUESTS_MAX;
    if (surplus > 0) deleteOldestRequests(db, surplus);
    insertRequest(db, {
      id,
      provider_id: providerId,
      expires_at: new Date(issuedAt.getTime() + REQUEST_MS).toISOString(),
    });
  });
  return redirect;
}

/**
 * An answer has to belong to a request of ours that waits for it, which is used up by it, or must
 * be let in without. Runs inside the caller's transaction.
 *
 * @throws {SsoRefusal} `unsolicited`, `request_unknown`, `request_foreign`, `request_used`,
 * `request_expired`.
 */
export function useRequest(
  { db, now }: Pick<Deps, "db" | "now">,
  provider: IdentityProvider,
  { inResponseTo }: Pick<VerifiedAssertion, "inResponseTo">,
): void {
  if (inResponseTo === null) {
    if (provider.allow_unsolicited) return;
    throw notProven(
      "unsolicited",
      "The assertion answers no login that was begun here, as this identity provider's must",
    );
  }
  const at = now().toISOString();
  const request = selectRequest(db, inResponseTo);
  if (!request) {
    throw notProven("request_unknown", "The assertion answers a login that was not begun here");
  }
  if (request.provider_id !== provider.id) {
    throw notProven(
      "request_foreign",
      "The assertion answers a login that was begun at another identity provider",
    );
  }
  if (request.used_at !== null) {
    throw notProven("request_used", "The login that the assertion answers was answered before");
  }
  if (request.expires_at <= at) {
    throw notProven("request_expired", "The login was begun too long ago; begin it again");
  }
  updateRequestUsed(db, request.id, at);
}
