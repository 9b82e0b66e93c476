/**
 * An OpenID Connect provider for tests that answers as an attacker wants: each part of an answer can
 * be replaced.
 *
 * @module
 */

import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export interface EvilProvider extends AsyncDisposable {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The answers from now on; tests replace single parts. */
  answers: {
    metadata: Record<string, unknown>;
    keys: JWK[];
    /** Text of the answer with the keys, instead of `keys`. */
    keysText?: string;
    /** The ID token for the nonce of the sign-in; `null` for none. */
    idToken: (nonce: string) => Promise<string | null>;
    userInfo?: Record<string, unknown>;
    /** Called before the userinfo endpoint answers. */
    onUserInfo?: () => Promise<void>;
    /** Default: 200. */
    userInfoStatus?: number;
    /** Answers a refresh token; the first one is `refresh-0`. */
    refresh?: (refreshToken: string) => Response;
  };
  /** Paths of the requests that it got. */
  requests: string[];
  /** Signs claims with one of its keys. */
  sign: (claims: Record<string, unknown>, header?: Record<string, unknown>) => Promise<string>;
  /** Replaces its key by another one. */
  rotate: () => Promise<void>;
  /** The claims of a good ID token. */
  claims: (nonce: string) => Record<string, unknown>;
  /** The callback of the sign-in that begins at an address, without a browser. */
  answer: (authorizationUrl: string, changes?: Record<string, string | null>) => Promise<URL>;
}

const CLIENT_ID = "longshore";

/** Keys of providers that have ended, for later ones: making one takes a quarter of a second. */
const spareKeys: CryptoKeyPair[] = [];

/** @param now The time of the application under test. */
export async function startEvilProvider(now: () => Date): Promise<EvilProvider> {
  const pairs: CryptoKeyPair[] = [];
  let key: { private: CryptoKey; kid: string };
  const nonces = new Map<string, { nonce: string; challenge: string }>();
  const requests: string[] = [];

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    requests.push(pathname);
    if (pathname === "/.well-known/openid-configuration") return Response.json(answers.metadata);
    if (pathname === "/jwks") {
      return answers.keysText === undefined
        ? Response.json({ keys: answers.keys })
        : new Response(answers.keysText);
    }
    if (pathname === "/userinfo") {
      await answers.onUserInfo?.();
      return Response.json(answers.userInfo, { status: answers.userInfoStatus ?? 200 });
    }
    const form = new URLSearchParams(await request.text());
    const refreshToken = form.get("refresh_token");
    if (answers.refresh && refreshToken !== null) return answers.refresh(refreshToken);
    const begun = nonces.get(form.get("code") ?? "");
    nonces.delete(form.get("code") ?? "");
    const isVerified = begun?.challenge === await challengeOf(form.get("code_verifier") ?? "");
    if (!begun || !isVerified) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const id_token = await answers.idToken(begun.nonce);
    return Response.json({
      ...{ access_token: "access", token_type: "Bearer", expires_in: 300 },
      ...(id_token !== null && { id_token }),
      ...(answers.refresh && { refresh_token: "refresh-0" }),
    });
  });
  const issuer = `http://127.0.0.1:${server.addr.port}`;

  const rotate = async () => {
    const pair = spareKeys.pop() ?? await generateKeyPair("RS256", { extractable: true });
    pairs.push(pair);
    key = { private: pair.privateKey, kid: crypto.randomUUID() };
    answers.keys = [{ ...await exportJWK(pair.publicKey), kid: key.kid, alg: "RS256", use: "sig" }];
  };
  const sign: EvilProvider["sign"] = async (claims, header = {}) =>
    await new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: key.kid, ...header })
      .sign(key.private);
  const claims = (nonce: string) => {
    const iat = Math.floor(now().getTime() / 1000);
    return {
      ...{ iss: issuer, aud: CLIENT_ID, sub: "ada", nonce, iat, exp: iat + 300 },
      ...{ email: "ada@example.com", email_verified: true },
    };
  };
  const answers: EvilProvider["answers"] = {
    metadata: {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, jwks_uri: `${issuer}/jwks` },
      ...{ token_endpoint: `${issuer}/token`, userinfo_endpoint: `${issuer}/userinfo` },
    },
    keys: [],
    idToken: (nonce) => sign(claims(nonce)),
  };
  await rotate();

  return {
    ...{ issuer, clientId: CLIENT_ID, clientSecret: "secret", answers, requests },
    ...{ sign, rotate, claims },
    answer(authorizationUrl, changes = {}) {
      const query = new URL(authorizationUrl).searchParams;
      const code = crypto.randomUUID();
      nonces.set(code, { nonce: query.get("nonce")!, challenge: query.get("code_challenge")! });
      const callback = new URL(query.get("redirect_uri")!);
      callback.searchParams.set("state", query.get("state")!);
      callback.searchParams.set("code", code);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) callback.searchParams.delete(name);
        else callback.searchParams.set(name, value);
      }
      return Promise.resolve(callback);
    },
    async [Symbol.asyncDispose]() {
      spareKeys.push(...pairs);
      await server.shutdown();
    },
  };
}

async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return new Uint8Array(hash).toBase64({ alphabet: "base64url", omitPadding: true });
}
