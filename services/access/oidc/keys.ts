/** Verification of signed tokens with the keys of an OpenID Connect provider. @module */

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import type { Claims } from "./claims.ts";
import { type ClientDeps, fetchShared, fetchThrough } from "./fetch.ts";
import type { OidcProvider } from "./provider.ts";
import { notAuthenticated, providerFailed } from "./refusal.ts";

/** Asymmetric algorithms only: a client secret must not sign, and `none` does not. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Time for which keys are used without asking again. */
const KEYS_MS = 10 * 60 * 1000;

/** Least time between two fetches. Anyone can send tokens with unknown keys. */
const REFETCH_MS = 60_000;

/** Difference between the clocks of the provider and of this host that is accepted, in seconds. */
export const CLOCK_TOLERANCE_S = 60;

/** Limit of keys of a provider. */
const KEYS_MAX = 100;

/**
 * Verifies a signed token of a provider: signature, issuer, audience and times.
 *
 * @returns Its claims.
 * @throws {SignInRefusal} `key_unknown`, `authorized_party`, `answer_invalid`. @throws {OutboundError}
 * @throws {errors.JOSEError} For a token that is not valid.
 */
export async function verifyToken(
  deps: ClientDeps,
  { id, clientId }: OidcProvider,
  server: AuthorizationServer,
  token: string,
  requiredClaims: string[],
): Promise<Claims> {
  const { oidc, now } = deps;
  const url = server.jwks_uri!;
  const atMs = now().getTime();
  const isOlder = (fetchedAtMs: number, ms: number) => Math.abs(atMs - fetchedAtMs) >= ms;
  const fetchedKeys = async () => {
    // Another token may have fetched them while this one was verified.
    const current = oidc.keys.get(id);
    if (current && current !== known && current.url === url) return current.set;
    return await fetchShared(deps, "keys", id, async () => {
      const set = await fetchKeys(deps, id, server);
      oidc.keys.set(id, { url, set, fetchedAtMs: atMs });
      return set;
    });
  };
  const verifyWith = async (set: JSONWebKeySet) => {
    const { payload } = await jwtVerify(token, createLocalJWKSet(set), {
      algorithms: ALGORITHMS,
      issuer: server.issuer,
      audience: clientId,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: now(),
      requiredClaims,
    });
    if (payload.azp !== undefined && payload.azp !== clientId) {
      throw notAuthenticated("authorized_party", "The ID token was issued to another client");
    }
    return payload as JWTPayload & Claims;
  };

  const known = oidc.keys.get(id);
  const isFresh = known?.url === url && !isOlder(known.fetchedAtMs, KEYS_MS);
  if (!isFresh) return await verifyWith(await fetchedKeys());
  try {
    return await verifyWith(known.set);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    // The provider may have new keys.
    if (isOlder(known.fetchedAtMs, REFETCH_MS)) return await verifyWith(await fetchedKeys());
    throw notAuthenticated("key_unknown", UNKNOWN_KEY, error);
  }
}

export const UNKNOWN_KEY = "The provider has signed with a key that it does not publish";

/** Fetches the keys. @throws {SignInRefusal} `answer_invalid`. @throws {OutboundError} */
export async function fetchKeys(
  deps: ClientDeps,
  providerId: string,
  { jwks_uri: url }: AuthorizationServer,
): Promise<JSONWebKeySet> {
  const headers = { accept: "application/json" };
  const response = await fetchThrough(deps, providerId)(url!, { method: "GET", headers });
  const body: unknown = response.status === 200
    ? await response.json().catch(() => undefined)
    : undefined;
  const { keys } = Object(body) as { keys?: unknown };
  if (!Array.isArray(keys) || keys.length > KEYS_MAX || !keys.every(isObject)) {
    throw providerFailed("answer_invalid", "The provider has sent no usable keys");
  }
  return { keys };
}

const isObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
