/**
 * A real OpenID Connect provider for tests: the certified `oidc-provider` on loopback. Its users
 * sign in by entering their name, and consent is not asked for.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import * as oidcProvider from "oidc-provider";

// The package has no types.
// deno-lint-ignore no-explicit-any
type Untyped = any;

const { Provider } = oidcProvider as Untyped;

/** Claims of a user, e.g. `{ email, email_verified, groups }`. */
export type UserClaims = Record<string, unknown>;

export interface TestOidcProvider extends AsyncDisposable {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The users by name; a test may change them. */
  users: Map<string, UserClaims>;
  provider: Untyped;
}

export const CLIENT_ID = "longshore";
/** Has characters that the form encoding of Basic authentication changes. */
export const CLIENT_SECRET = "s3cret:with/odd+characters %";

interface TestProviderOptions {
  redirectUri: string;
  postLogoutRedirectUri?: string;
  backchannelLogoutUri?: string;
  users: Record<string, UserClaims>;
  /** Puts all claims into the ID token, instead of the userinfo endpoint. */
  claimsInIdToken?: boolean;
  /** `post` where the provider offers nothing else; `none` for a public client. */
  authentication?: "client_secret_basic" | "client_secret_post" | "none";
}

/** Starts a provider with one client. */
export async function startOidcProvider(
  {
    redirectUri,
    postLogoutRedirectUri,
    backchannelLogoutUri,
    users: given,
    claimsInIdToken = false,
    authentication = "client_secret_basic",
  }: TestProviderOptions,
): Promise<TestOidcProvider> {
  const users = new Map(Object.entries(given));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: CLIENT_ID,
      ...(authentication !== "none" && { client_secret: CLIENT_SECRET }),
      redirect_uris: [redirectUri],
      ...(postLogoutRedirectUri !== undefined &&
        { post_logout_redirect_uris: [postLogoutRedirectUri] }),
      ...(backchannelLogoutUri !== undefined && {
        backchannel_logout_uri: backchannelLogoutUri,
        backchannel_logout_session_required: true,
      }),
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: authentication,
      id_token_signed_response_alg: "ES256",
    }],
    clientAuthMethods: [authentication],
    scopes: ["openid", "email", "profile", "groups", "offline_access"],
    claims: {
      openid: ["sub", "amr"],
      email: ["email", "email_verified"],
      profile: ["name"],
      groups: ["groups", "realm_access"],
    },
    conformIdTokenClaims: !claimsInIdToken,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    pkce: { required: () => true },
    cookies: { keys: ["key of the test"] },
    interactions: { url: (_: Untyped, { uid }: Untyped) => `/interaction/${uid}` },
    findAccount: (_: Untyped, sub: string) => {
      const claims = users.get(sub);
      return claims === undefined ? undefined : {
        accountId: sub,
        claims: () => Promise.resolve({ sub, ...claims }),
      };
    },
    // A grant for everything that the client requests, so that no consent is needed.
    async loadExistingGrant({ oidc }: Untyped) {
      const { client, session } = oidc;
      const grant = new provider.Grant({
        clientId: client!.clientId,
        accountId: session!.accountId!,
      });
      grant.addOIDCScope("openid email profile groups offline_access");
      await grant.save();
      return grant;
    },
    issueRefreshToken: (_: Untyped, __: Untyped, code: Untyped) =>
      Promise.resolve(code.scopes.has("offline_access")),
    jwks: { keys: [{ ...await privateKey(), use: "sig", alg: "ES256", kid: "key-1" }] },
    ttl: {
      AccessToken: 3600,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      Session: 3600,
      RefreshToken: 86_400,
    },
  });
  provider.on("server_error", (_: Untyped, error: Error) => console.error("oidc-provider:", error));
  const callback = provider.callback();
  server.on("request", async (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return callback(request, response);
    const url = new URL(request.url, issuer);
    const login = url.searchParams.get("login");
    if (login === null) {
      response.setHeader("content-type", "text/html");
      return response.end(
        `<!doctype html><title>Test provider</title><link rel=icon href=data:,><form>` +
          `<label>User <input name=login></label><button>Continue</button></form>`,
      );
    }
    const { amr } = users.get(login) ?? {};
    const result = login === ""
      ? { error: "access_denied" }
      : { login: { accountId: login, ...(amr !== undefined && { amr }) } };
    await provider.interactionFinished(request, response, result);
  });
  return {
    ...{ issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, users, provider },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function privateKey() {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return await exportJWK(privateKey);
}

/** A browser's cookies at the provider. */
export type Jar = Map<string, string>;

/**
 * Signs in at the provider as a browser does.
 *
 * @param user Name of the user; empty to cancel.
 * @returns The address of the callback that the provider redirects to.
 */
export async function signInAt(url: string, user: string, jar: Jar = new Map()): Promise<URL> {
  const origin = new URL(url).origin;
  for (let next = new URL(url), steps = 0; steps < 10; steps++) {
    if (next.origin !== origin) return next;
    if (next.pathname.startsWith("/interaction/")) next.searchParams.set("login", user);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, { headers: { cookie }, redirect: "manual" });
    const text = await response.text();
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      if (value === "") jar.delete(name!);
      else jar.set(name!, value!);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${response.status} at ${next}: ${text.slice(0, 300)}`);
    next = new URL(location, next);
  }
  throw new Error(`The provider does not redirect back from ${url}`);
}
