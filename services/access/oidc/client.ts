/**
 * The client of an OpenID Connect provider. Loaded on the first sign-in, as the protocol's library
 * is needed by nothing else.
 *
 * @module
 */

import * as oauth from "oauth4webapi";
import { isProviderUrl } from "../../input/provider_url.ts";
import type { Claims } from "./claims.ts";
import {
  type ClientDeps,
  type CustomFetch,
  fetchShared,
  fetchThrough,
  TIMEOUT_MS,
} from "./fetch.ts";
import { CLOCK_TOLERANCE_S, fetchKeys, verifyToken } from "./keys.ts";
import type { OidcProvider } from "./provider.ts";
import { asRefusal } from "./provider_errors.ts";
import { notAuthenticated, providerFailed } from "./refusal.ts";

/** Time for which metadata is used without asking again. */
const METADATA_MS = 10 * 60 * 1000;

/** The answer to a code or a refresh token. */
export interface ProviderTokens {
  accessToken: string;
  refreshToken: string | null;
  /** The ID token as text, and its claims; `null` after a refresh without one. */
  idToken: { text: string; claims: Claims } | null;
}

/**
 * Prepares calls to a provider; its metadata is fetched at most every 10 minutes.
 *
 * @throws {SignInRefusal} `provider_unreachable`, `metadata_invalid`.
 */
export async function connectProvider(deps: ClientDeps, provider: OidcProvider) {
  const options = optionsOf(deps, provider);
  const server = await metadataOf(deps, provider, options);
  const client: oauth.Client = {
    client_id: provider.clientId,
    [oauth.clockSkew]: Math.round((deps.now().getTime() - Date.now()) / 1000),
    [oauth.clockTolerance]: CLOCK_TOLERANCE_S,
  };
  // Whatever the metadata says by now: other providers have the same redirect URI.
  const answering = provider.callback === "issuer"
    ? { ...server, authorization_response_iss_parameter_supported: true }
    : server;
  const verify = (token: string, requiredClaims: string[]) =>
    verifyToken(deps, provider, server, token, requiredClaims);
  /** Library errors become refusals with a reason. */
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw asRefusal(error, provider.name);
    }
  };

  const tokensOf = async (answer: oauth.TokenEndpointResponse): Promise<ProviderTokens> => {
    const { access_token: accessToken, refresh_token: refreshToken, id_token: text } = answer;
    const idToken = text === undefined ? null : {
      text,
      claims: await verify(text, ["sub", "iat", "exp"]),
    };
    return { accessToken, refreshToken: refreshToken ?? null, idToken };
  };

  return {
    server,

    /** Verifies a logout token. @throws {SignInRefusal} */
    verify: (token: string, requiredClaims: string[]): Promise<Claims> =>
      guarded(() => verify(token, requiredClaims)),

    /** Fetches the keys again. @throws {SignInRefusal} */
    fetchKeys: () => guarded(() => fetchKeys(deps, provider.id, server)),

    /** Checks what the browser brought back. @throws {SignInRefusal} */
    checkCallback: (query: URLSearchParams, state: string): Promise<URLSearchParams> =>
      // deno-lint-ignore require-await
      guarded(async () => oauth.validateAuthResponse(answering, client, query, state)),

    /** Exchanges the code. @throws {SignInRefusal} */
    redeemCode: (
      callback: URLSearchParams,
      { redirectUri, codeVerifier, nonce }: Record<
        "redirectUri" | "codeVerifier" | "nonce",
        string
      >,
    ): Promise<ProviderTokens> =>
      guarded(async () => {
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication(provider, server),
          callback,
          redirectUri,
          codeVerifier,
          options,
        );
        const expected = { expectedNonce: nonce, requireIdToken: true };
        return await tokensOf(
          await oauth.processAuthorizationCodeResponse(server, client, response, expected),
        );
      }),

    /** Renews the tokens. @throws {SignInRefusal} */
    refresh: (refreshToken: string): Promise<ProviderTokens> =>
      guarded(async () => {
        const auth = authentication(provider, server);
        const response = await oauth.refreshTokenGrantRequest(
          server,
          client,
          auth,
          refreshToken,
          options,
        );
        return await tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
      }),

    /** Reads the claims of the userinfo endpoint; `undefined` without one. @throws {SignInRefusal} */
    userInfo: (accessToken: string, subject: string): Promise<Claims | undefined> =>
      guarded(async () => {
        if (server.userinfo_endpoint === undefined) return undefined;
        const response = await oauth.userInfoRequest(server, client, accessToken, options);
        if (response.status === 401 || response.status === 403) {
          const text = "The userinfo endpoint has refused the provider's own access token";
          throw notAuthenticated("token_refused", text);
        }
        if (response.headers.get("content-type")?.startsWith("application/jwt")) {
          throw providerFailed("answer_invalid", "Signed userinfo responses are not supported");
        }
        return await oauth.processUserInfoResponse(server, client, subject, response);
      }),
  };
}

/** The address at which a sign-in begins. */
export function authorizationUrl(
  server: oauth.AuthorizationServer,
  { clientId, scopes, mfaAcr }: OidcProvider,
  { state, nonce, challenge, redirectUri }: Record<
    "state" | "nonce" | "challenge" | "redirectUri",
    string
  >,
): string {
  const url = new URL(server.authorization_endpoint!);
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: scopes,
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(mfaAcr.length > 0 && { acr_values: mfaAcr.join(" ") }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

export const codeChallengeOf = oauth.calculatePKCECodeChallenge;

type Options = {
  [oauth.customFetch]: CustomFetch;
  [oauth.allowInsecureRequests]: boolean;
  signal: AbortSignal;
};

const optionsOf = (
  deps: ClientDeps,
  { id, issuer }: Pick<OidcProvider, "id" | "issuer">,
): Options => ({
  [oauth.customFetch]: fetchThrough(deps, id),
  [oauth.allowInsecureRequests]: issuer.startsWith("http:"),
  signal: AbortSignal.timeout(TIMEOUT_MS),
});

async function metadataOf(
  deps: ClientDeps,
  provider: OidcProvider,
  options: Options,
): Promise<oauth.AuthorizationServer> {
  const { id, issuer } = provider;
  const { metadata } = deps.oidc;
  const known = metadata.get(id);
  const atMs = deps.now().getTime();
  if (known?.issuer === issuer && Math.abs(atMs - known.fetchedAtMs) < METADATA_MS) {
    return known.server;
  }
  return await fetchShared(deps, "metadata", id, async () => {
    const server = await discover(deps, provider, options);
    metadata.set(id, { issuer, server, fetchedAtMs: atMs });
    return server;
  });
}

/** Fetches the metadata of a provider. @throws {SignInRefusal} `provider_unreachable`, `metadata_invalid`. */
export async function discover(
  deps: ClientDeps,
  provider: Pick<OidcProvider, "id" | "name" | "issuer">,
  options: Options = optionsOf(deps, provider),
): Promise<oauth.AuthorizationServer> {
  const { name, issuer } = provider;
  try {
    const url = new URL(issuer);
    const response = await oauth.discoveryRequest(url, { ...options, algorithm: "oidc" });
    const server = await oauth.processDiscoveryResponse(url, response);
    // The library compares parsed URLs, and tokens contain the text.
    if (server.issuer !== issuer) {
      throw providerFailed(
        "metadata_invalid",
        `The provider calls itself ${cut(server.issuer)}, not ${issuer}; enter its issuer exactly`,
      );
    }
    assertUsable(server);
    return server;
  } catch (error) {
    throw asRefusal(error, name, "metadata_invalid");
  }
}

/** Longest text of a provider in an error message, in characters. */
const SHOWN_MAX = 100;

const cut = (text: string) => text.slice(0, SHOWN_MAX).replace(/[\p{C}\u2028\u2029]/gu, "\uFFFD");

/** @throws {SignInRefusal} `metadata_invalid`. */
function assertUsable(server: oauth.AuthorizationServer): void {
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const value: unknown = server[name];
    if (typeof value === "string" && isProviderUrl(value)) continue;
    throw providerFailed("metadata_invalid", `The provider's metadata has no usable ${name}`);
  }
  const methods: unknown = server.code_challenge_methods_supported;
  if (methods !== undefined && !(Array.isArray(methods) && methods.includes("S256"))) {
    throw providerFailed("metadata_invalid", "The provider does not support PKCE with S256");
  }
}

/** Basic, unless only the other method is offered; no authentication without a secret. */
function authentication(
  provider: OidcProvider,
  { token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer,
): oauth.ClientAuth {
  const secret = provider.readSecret();
  if (secret === null) return oauth.None();
  const isPostOnly = Array.isArray(methods) && !methods.includes("client_secret_basic") &&
    methods.includes("client_secret_post");
  return isPostOnly ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

/** @throws {SignInRefusal} `id_token_missing`. */
export function requireIdToken({ idToken }: ProviderTokens): { text: string; claims: Claims } {
  if (idToken) return idToken;
  throw notAuthenticated("id_token_missing", "The provider has sent no ID token");
}
