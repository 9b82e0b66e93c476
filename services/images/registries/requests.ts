/**
 * Requests to the API of registries, with their authentication and redirects.
 *
 * @see https://github.com/opencontainers/distribution-spec
 * @module
 */

import { withTimeLimit } from "../../deadline.ts";
import { isLoopbackHost } from "../../outbound/address.ts";
import { OutboundError, timeoutError } from "../../outbound/error.ts";
import { outboundRequest, type OutboundResponse } from "../../outbound/http.ts";
import { joinUrl, parseOutboundUrl } from "../../outbound/url.ts";
import type { Challenge } from "./sessions.ts";
import { reachOf, type RegistryAccess } from "./access.ts";
import { assertNotLimited, checkStatus } from "./answers.ts";
import { parseChallenges } from "./challenges.ts";
import { RegistryError } from "./error.ts";
import { answerChallenge, type Registrar as Target, type TokenDeps } from "./tokens.ts";

export type RequestDeps = TokenDeps;

export interface RegistryRequest {
  method: "GET" | "HEAD";
  /** E.g. `/v2/team/app/manifests/1`. */
  path: string;
  /** The query with its question mark; default: none. */
  search?: string;
  /** The repository whose pull the token must allow; without it, no token is requested ahead. */
  repository?: string | undefined;
  accept?: string;
  /** Maximum size of the response body, in bytes. */
  bodyMax: number;
  /** Time limit of one exchange, in milliseconds; default 15 s. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

const EXCHANGE_MS = 15_000;

/** Time limit of a request with authentication and redirects, in milliseconds. */
const REQUEST_MS = 60_000;

/** Limit of redirects: some registries are only a name for another one. */
const REDIRECTS_MAX = 3;

/** Time for which a registry's authentication scheme is remembered, in milliseconds. */
const CHALLENGE_MS = 60 * 60_000;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Docker Hub serves its API under another name. */
const DOCKER_HUB_API = "registry-1.docker.io";

/**
 * Makes a request, and follows up to three redirects. Credentials and tokens are not sent to another
 * origin; if that requires authentication, it is done anonymously. At most four requests to a host
 * run at the same time.
 *
 * @param host Host and port as in the image's name.
 * @returns A successful response.
 * @throws {RegistryError} For any other, also if there is none (with the {@linkcode OutboundError} as
 * its cause).
 */
export async function registryRequest(
  deps: RequestDeps,
  host: string,
  access: RegistryAccess,
  request: RegistryRequest,
): Promise<OutboundResponse> {
  const { signal } = request;
  try {
    return await deps.registrySessions.inTurn(
      host,
      () =>
        withTimeLimit({ timeoutMs: REQUEST_MS, timeoutError, signal }, async (limit) => {
          let target: Target = {
            ...access,
            origin: originOf(host, access),
            reach: reachOf(access),
          };
          let current = request;
          for (let redirects = 0;; redirects++) {
            assertNotLimited(deps, target.origin.host);
            const response = await exchange(deps, target, current, limit);
            const next = nextUrl(response, redirects);
            if (!next) {
              checkStatus(deps, target.origin.host, response);
              return response;
            }
            current = { ...current, path: next.pathname, search: next.search };
            if (next.origin === target.origin.origin) continue;
            target = elsewhere(next);
            current.repository = undefined; // It may have another name there.
          }
        }),
    );
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const hint = error.code === "blocked" && !access.isListed
      ? `, or add the registry ${host}`
      : "";
    throw asRegistryError(error, hint);
  }
}

/** The engine uses plain HTTP on loopback, too. */
function originOf(host: string, { insecure, caCertificate }: RegistryAccess): URL {
  const name = host === "docker.io" ? DOCKER_HUB_API : host;
  const hostname = name.replace(/:\d+$/, "");
  const isPlain = insecure || (isLoopbackHost(hostname) && caCertificate === null);
  const url = parseOutboundUrl(`${isPlain ? "http" : "https"}://${name}`);
  if (typeof url === "string") throw new RegistryError("invalid", `The address of ${host} ${url}`);
  return url;
}

/** The target of a redirect is the registry's choice, so it must be public. */
const elsewhere = (url: URL): Target => ({
  origin: new URL(url.origin),
  reach: "public",
  caCertificate: null,
  credentials: undefined,
});

async function exchange(
  deps: RequestDeps,
  target: Target,
  request: RegistryRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { challenges } = deps.registrySessions;
  const known = await authorizeAhead(deps, target, request, signal);
  const first = await send(deps, target, request, known, signal);
  if (first.status !== 401) return first;
  const challenge = chooseChallenge(first);
  if (!challenge) return first;
  challenges.set(target.origin.origin, challenge, CHALLENGE_MS);
  const fresh = known !== undefined;
  const authorization = await answerChallenge(deps, target, challenge, { fresh, signal });
  return authorization === undefined || authorization === known
    ? first
    : await send(deps, target, request, authorization, signal);
}

/**
 * Returns the authorization for a repository before the registry requires it, so that a check takes
 * one request for its manifest. How the registry authenticates is learned from `/v2/`.
 */
async function authorizeAhead(
  deps: RequestDeps,
  target: Target,
  { repository }: RegistryRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (repository === undefined) return undefined;
  const { challenges } = deps.registrySessions;
  const { origin } = target.origin;
  let challenge = challenges.get(origin);
  if (challenge === undefined) {
    const base: RegistryRequest = { method: "GET", path: "/v2/", bodyMax: ANY_BODY };
    const response = await send(deps, target, base, undefined, signal);
    if (response.status === 429) checkStatus(deps, target.origin.host, response);
    challenge = response.status === 401 ? chooseChallenge(response) ?? null : null;
    challenges.set(origin, challenge, CHALLENGE_MS);
  }
  if (challenge === null) return undefined;
  const params = { ...challenge.params, scope: `repository:${repository}:pull` };
  return await answerChallenge(deps, target, { ...challenge, params }, { fresh: false, signal });
}

/** Limit for a body that is not needed, in bytes. */
const ANY_BODY = 256 * 1024;

function chooseChallenge({ headers }: OutboundResponse): Challenge | undefined {
  const offered = parseChallenges(headers["www-authenticate"]);
  return ["bearer", "basic"].map((name) => offered.find(({ scheme }) => scheme === name))
    .find((challenge) => challenge !== undefined);
}

async function send(
  deps: RequestDeps,
  { origin, reach, caCertificate }: Target,
  { method, path, search = "", accept, bodyMax, timeoutMs = EXCHANGE_MS }: RegistryRequest,
  authorization: string | undefined,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  return await outboundRequest(deps, {
    // The path of a redirect may be `//host/`, which a resolved reference would take for a host.
    url: joinUrl(origin.href, path, search),
    reach,
    method,
    headers: {
      ...(accept !== undefined && { accept }),
      ...(authorization !== undefined && { authorization }),
    },
    caCertificates: caCertificate ?? undefined,
    timeoutMs,
    bodyMax,
    signal,
  });
}

/** @throws {RegistryError} `invalid` for too many, and for one to an address without TLS. */
function nextUrl(
  { status, headers: { location }, url }: OutboundResponse,
  redirects: number,
): URL | undefined {
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const from = new URL(url);
  const invalid = (problem: string) => new RegistryError("invalid", `${from.host} ${problem}`);
  if (redirects === REDIRECTS_MAX) throw invalid(`redirects more than ${REDIRECTS_MAX} times`);
  const next = parseOutboundUrl(URL.parse(location, from)?.href ?? "");
  if (typeof next === "string") throw invalid("redirects to an unusable address");
  if (from.protocol === "https:" && next.protocol !== "https:") {
    throw invalid("redirects to an address without TLS");
  }
  return next;
}

function asRegistryError(error: OutboundError, hint: string): RegistryError {
  const isInvalid = error.code === "too_large" || error.code === "redirect";
  return new RegistryError(isInvalid ? "invalid" : "unreachable", error.message + hint, {
    cause: error,
  });
}
