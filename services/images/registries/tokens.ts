/**
 * Authentication at registries: Basic, and bearer tokens of the registry's token server.
 *
 * @see https://distribution.github.io/distribution/spec/auth/token/
 * @module
 */

import { outboundHeaderProblem, SENT_VALUE_MAX } from "../../outbound/headers.ts";
import { outboundRequest } from "../../outbound/http.ts";
import { type OutboundDeps, type OutboundReach, parseOutboundUrl } from "../../outbound/url.ts";
import type { Deps } from "../../deps.ts";
import type { Challenge } from "./sessions.ts";
import type { Credentials } from "./access.ts";
import { assertNotLimited, checkStatus } from "./answers.ts";
import { parseObject } from "./auth_file.ts";
import { RegistryError } from "./error.ts";

export type TokenDeps = OutboundDeps & Pick<Deps, "secrets" | "registrySessions" | "now">;

/** A registry as its token server needs to know it. */
export interface Registrar {
  /** The origin of the registry. */
  origin: URL;
  reach: OutboundReach;
  caCertificate: string | null;
  credentials: Credentials | undefined;
}

/** Time limit of a request for a token, in milliseconds. */
const TOKEN_MS = 15_000;

/** Largest answer of a token server, in bytes. */
const ANSWER_MAX = 64 * 1024;

/** Validity of a token whose answer does not have one, in seconds (as the specification says). */
const VALIDITY_S = 60;

/** Longest validity that is believed, in seconds. */
const VALIDITY_MAX_S = 3_600;

/** A token is not used in the last tenth of its validity. */
const USABLE = 0.9;

const encoder = new TextEncoder();

/**
 * Returns the `Authorization` header that answers a challenge; `undefined` if there is none without
 * credentials.
 *
 * @param options.fresh Does not use the cached token, which the registry has refused.
 * @throws {RegistryError} If the token server refuses or its address is not allowed.
 * @throws {OutboundError} If the token server does not answer.
 */
export async function answerChallenge(
  deps: TokenDeps,
  registrar: Registrar,
  { scheme, params }: Challenge,
  { fresh, signal }: { fresh: boolean; signal: AbortSignal },
): Promise<string | undefined> {
  if (scheme === "bearer") {
    return `Bearer ${await tokenFor(deps, registrar, params, { fresh, signal })}`;
  }
  const { username, password } = registrar.credentials ?? {};
  return typeof username === "string" && typeof password === "string"
    ? basic(username, password)
    : undefined;
}

const basic = (username: string, password: string) =>
  `Basic ${encoder.encode(`${username}:${password}`).toBase64()}`;

async function tokenFor(
  deps: TokenDeps,
  registrar: Registrar,
  { realm = "", service, scope }: Challenge["params"],
  { fresh, signal }: { fresh: boolean; signal: AbortSignal },
): Promise<string> {
  const { tokens } = deps.registrySessions;
  const { origin, credentials } = registrar;
  const identity = credentials ? await deps.secrets.fingerprint(JSON.stringify(credentials)) : "";
  const key = JSON.stringify([origin.origin, realm, service, scope, identity]);
  const cached = fresh ? undefined : tokens.get(key);
  if (cached !== undefined) return cached;

  const url = realmUrl(realm, origin);
  const isOwnHost = url.hostname === origin.hostname;
  assertNotLimited(deps, url.host);
  const response = await outboundRequest(deps, {
    ...tokenRequest(url, { service, scope }, credentials),
    // The registry's own host is what the image names. Others it could choose to reach the network.
    reach: isOwnHost ? registrar.reach : "public",
    caCertificates: registrar.caCertificate ?? undefined,
    timeoutMs: TOKEN_MS,
    bodyMax: ANSWER_MAX,
    signal,
  });
  checkStatus(deps, url.host, response);
  const { token, validityS } = parseToken(response.text(), url.host);
  tokens.set(key, token, validityS * 1000 * USABLE);
  return token;
}

/**
 * Returns the address of the token server, which gets the credentials wherever it is, as with Docker
 * and Podman: many are on another host or port. Without TLS, credentials and tokens go only to the
 * host of a registry that itself has none.
 *
 * @throws {RegistryError} `invalid`
 */
function realmUrl(realm: string, origin: URL): URL {
  const url = parseOutboundUrl(realm);
  if (typeof url === "string") {
    throw new RegistryError("invalid", `${origin.host} names a token server whose address ${url}`);
  }
  const isAllowed = url.protocol === "https:" ||
    (origin.protocol === "http:" && url.hostname === origin.hostname);
  if (!isAllowed) {
    throw new RegistryError("invalid", `${origin.host} names a token server without TLS`);
  }
  return url;
}

/** Parameters that the challenge does not have are not sent. */
function tokenRequest(
  realm: URL,
  { service, scope }: { service: string | undefined; scope: string | undefined },
  credentials: Credentials | undefined,
) {
  const params = new URLSearchParams();
  if (service !== undefined) params.set("service", service);
  // A challenge can have several scopes, separated by spaces.
  for (const each of scope?.split(" ").filter(Boolean) ?? []) params.append("scope", each);
  const { username = null, password = null, identityToken = null } = credentials ?? {};
  if (identityToken !== null) {
    if (scope !== undefined) params.set("scope", scope);
    params.set("grant_type", "refresh_token");
    params.set("client_id", "longshore");
    params.set("refresh_token", identityToken);
    return {
      url: realm.href,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: params.toString(),
    };
  }
  const url = new URL(realm);
  for (const [name, value] of params) url.searchParams.append(name, value);
  return {
    url: url.href,
    headers: username !== null && password !== null
      ? { authorization: basic(username, password) }
      : {},
  };
}

function parseToken(text: string, host: string): { token: string; validityS: number } {
  const { token, access_token, expires_in } = parseObject(text) ?? {};
  const found = token || access_token;
  const isUsable = typeof found === "string" &&
    !outboundHeaderProblem("authorization", `Bearer ${found}`, SENT_VALUE_MAX);
  if (!isUsable) throw new RegistryError("invalid", `${host} did not answer with a token`);
  const seconds = typeof expires_in === "number" && expires_in > 0 ? expires_in : VALIDITY_S;
  return { token: found, validityS: Math.min(seconds, VALIDITY_MAX_S) };
}
