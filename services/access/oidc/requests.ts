/** Sign-ins at an OpenID Connect provider that were begun here. @module */

import { insertOidcRequest, type OidcRequest, takeOidcRequest } from "../../../db/oidc_requests.ts";
import { randomText, sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { LOGIN_S, type LoginBrowser } from "../sign_in/login_browser.ts";
import { makeRoom } from "../sign_in/room.ts";
import { addressGroup } from "../address_group.ts";
import { callbackPathOf } from "./callback.ts";
import type { ClientDeps } from "./fetch.ts";
import { findOidcProvider, knownOidcProvider, type OidcProvider } from "./provider.ts";
import { notAllowed, notAuthenticated } from "./refusal.ts";

/** Length of state, nonce and verifier: 256 bits each (RFC 7636, 4.1, allows 43 characters). */
const SECRET_BYTES = 32;

type BeginDeps = ClientDeps & Pick<Deps, "accounts" | "db" | "secrets">;

/** How a sign-in is begun: at which address of this service, and from which one. */
interface From {
  baseUrl: string;
  address: string;
}

/**
 * Begins a sign-in.
 *
 * @param from.baseUrl The address of this service, without a trailing slash.
 * @param from.address That of the client.
 * @returns The address of the provider.
 * @throws {AppError} `not_found` for an unknown provider.
 * @throws {SignInRefusal} `mode_key`, `provider_disabled`, `provider_unreachable`,
 * `metadata_invalid`.
 */
export async function beginOidcLogin(
  deps: BeginDeps,
  providerId: string,
  from: From,
  browser: LoginBrowser,
): Promise<string> {
  const provider = findOidcProvider(deps, providerId);
  assertUsable(deps, provider);
  return await beginAt(deps, provider, from, browser);
}

/** As {@linkcode beginOidcLogin}, of a provider that may be disabled. */
export async function beginAt(
  deps: BeginDeps,
  provider: OidcProvider,
  { baseUrl, address }: From,
  { hash: browserHash, pageHash, returnTo }: LoginBrowser,
): Promise<string> {
  const { authorizationUrl, codeChallengeOf, connectProvider } = await import("./client.ts");
  const { server } = await connectProvider(deps, provider);
  const [state, nonce, codeVerifier] = [0, 0, 0].map(() => randomText(SECRET_BYTES)) as [
    string,
    string,
    string,
  ];
  const redirectUri = baseUrl + callbackPathOf(provider);
  const challenge = await codeChallengeOf(codeVerifier);
  const request = {
    ...{ id: sha256(state), providerId: provider.id, nonce, codeVerifier, redirectUri },
    ...{ browserHash, pageHash, returnTo },
    expiresAt: new Date(deps.now().getTime() + LOGIN_S * 1000).toISOString(),
    client: addressGroup(address),
  };
  deps.db.transaction(() => {
    makeRoom(deps, "oidc_requests");
    insertOidcRequest(deps.db, request);
  });
  return authorizationUrl(server, provider, { state, nonce, challenge, redirectUri });
}

/** A sign-in that comes back, with its provider. */
export interface AnsweredRequest {
  request: OidcRequest;
  provider: OidcProvider;
}

/**
 * Finds the sign-in that a callback answers. Each is answered once, whatever comes of it.
 *
 * @param path The redirect URI at which the answer arrived, below the address of this service.
 * @throws {SignInRefusal} `state_missing`, `request_unknown`, `callback_foreign`, `request_expired`,
 * `provider_disabled`, `mode_key`.
 */
export function takeRequest(
  deps: Pick<Deps, "accounts" | "config" | "db" | "now" | "secrets">,
  state: string | undefined,
  path: string,
): AnsweredRequest {
  if (state === undefined) {
    throw notAuthenticated("state_missing", "The answer of the identity provider has no state");
  }
  const request = takeOidcRequest(deps.db, sha256(state));
  if (!request) {
    throw notAuthenticated(
      "request_unknown",
      "The answer belongs to no sign-in that was begun here, or to one that was answered before",
    );
  }
  if (!request.redirectUri.endsWith(path)) {
    throw notAuthenticated(
      "callback_foreign",
      "The answer arrived at the redirect URI of another identity provider",
    );
  }
  if (request.expiresAt <= deps.now().toISOString()) {
    throw notAuthenticated("request_expired", "The sign-in took too long; sign in again");
  }
  const provider = knownOidcProvider(deps, request.providerId);
  if (!provider) throw notAllowed("provider_disabled", "The identity provider was removed");
  if (!isTest(request)) assertUsable(deps, provider);
  return { request, provider };
}

/** Whether an admin tests the provider. */
export const isTest = ({ pageHash }: OidcRequest): boolean => pageHash === "";

/** @throws {SignInRefusal} `mode_key`, `provider_disabled`. */
function assertUsable({ accounts }: Pick<Deps, "accounts">, { enabled }: OidcProvider): void {
  if (!enabled) throw notAllowed("provider_disabled", "The identity provider is disabled");
  if (accounts.mode === "users") return;
  throw notAllowed(
    "mode_key",
    "Identity providers sign in users, and this server is in key mode (AUTH_MODE=key)",
  );
}
