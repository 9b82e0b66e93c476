/** Requests to an OpenID Connect provider, through the guard of outbound connections. @module */

import type { Deps } from "../../deps.ts";
import { OutboundError, timeoutError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import type { ProviderCalls } from "./cache.ts";

export type ClientDeps = OutboundDeps & Pick<Deps, "now" | "oidc">;

/** For each request, and for all requests of one step. */
export const TIMEOUT_MS = 10_000;

const BODY_MAX = 256 * 1024;

/** Time for which a provider that could not be reached is not asked again. */
const FAILED_MS = 10_000;

/** Limits of the requests to one provider: of those that run, and of those that wait. */
const RUNNING_MAX = 10;
const WAITING_MAX = 200;

/** Longest `WWW-Authenticate` header that is read: the library's time grows with its square. */
const CHALLENGE_MAX = 2_048;

export type CustomFetch = ReturnType<typeof fetchThrough>;

/** Bodies that a `Response` must not have. */
const WITHOUT_BODY = [204, 205, 304];

/** Sends the library's requests through the guard of outbound connections, without redirects. */
export const fetchThrough = (deps: ClientDeps, providerId: string) =>
async (
  url: string,
  { method, headers, body, signal }: {
    method: string;
    headers: Record<string, string>;
    body?: unknown;
    signal?: AbortSignal | undefined;
  },
): Promise<Response> => {
  const answer = await inTurn(deps, providerId, () =>
    outboundRequest(deps, {
      url,
      reach: "internal",
      method,
      headers,
      ...(body !== undefined && body !== null && { body: String(body) }),
      timeoutMs: TIMEOUT_MS,
      bodyMax: BODY_MAX,
      signal,
    }).catch((error) => {
      // The limit of the step, which is aborted by the runtime.
      throw error instanceof DOMException ? timeoutError(TIMEOUT_MS) : error;
    }));
  const { status } = answer;
  if (status < 200 || status > 599) throw new OutboundError("network", `Status ${status}`);
  const received = new Headers(answer.headers);
  const challenge = received.get("www-authenticate");
  if (challenge !== null && challenge.length > CHALLENGE_MAX) received.delete("www-authenticate");
  return new Response(WITHOUT_BODY.includes(status) ? null : answer.body, {
    status,
    headers: received,
  });
};

/**
 * Sends a request when fewer than the limit are running. One that fails because the provider cannot
 * be reached fails those that wait, and others for a while, so that no sign-in waits for the next
 * timeout.
 */
async function inTurn<Result>(
  { now, oidc }: ClientDeps,
  providerId: string,
  request: () => Promise<Result>,
): Promise<Result> {
  const calls = callsOf(oidc.calls, providerId);
  if (calls.running < RUNNING_MAX) calls.running++;
  else if (calls.waiting.length < WAITING_MAX) {
    await new Promise<void>((start) => calls.waiting.push(start));
  } else throw new OutboundError("network", "Too many requests to it are waiting; try again later");
  try {
    const { failure } = calls;
    const atMs = now().getTime();
    if (failure && Math.abs(atMs - failure.atMs) < FAILED_MS) throw failure.error;
    return await request();
  } catch (error) {
    if (error instanceof OutboundError && isUnreachable(error) && calls.failure?.error !== error) {
      calls.failure = { error, atMs: now().getTime() };
    }
    throw error;
  } finally {
    // The next one takes over the place.
    const start = calls.waiting.shift();
    if (start) start();
    else calls.running--;
  }
}

/**
 * Fetches something of a provider once for all that need it now. A failure is theirs as well, and of
 * those that come soon: anyone can send tokens for which metadata and keys are needed.
 */
export async function fetchShared<Result>(
  { now, oidc }: ClientDeps,
  what: keyof ClientDeps["oidc"]["fetches"],
  providerId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const all = oidc.fetches[what];
  const fetch = all.get(providerId) ?? { running: undefined, failure: undefined };
  all.set(providerId, fetch);
  const { failure } = fetch;
  if (failure && Math.abs(now().getTime() - failure.atMs) < FAILED_MS) throw failure.error;
  fetch.running ??= work().then((result) => {
    fetch.failure = undefined;
    return result;
  }, (error) => {
    fetch.failure = { error, atMs: now().getTime() };
    throw error;
  }).finally(() => fetch.running = undefined);
  return await fetch.running as Result;
}

function callsOf(all: Map<string, ProviderCalls>, providerId: string): ProviderCalls {
  const known = all.get(providerId);
  if (known) return known;
  const calls: ProviderCalls = { running: 0, waiting: [], failure: undefined };
  all.set(providerId, calls);
  return calls;
}

/** Not an answer that is too large: a user can have one, and others must not suffer from it. */
const isUnreachable = ({ code }: OutboundError) =>
  code === "network" || code === "timeout" || code === "tls" || code === "unresolvable";
