/** Requests to an OpenID Connect provider, through the guard of outbound connections. @module */

import type { Deps } from "../../deps.ts";
import { OutboundError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";

export type ClientDeps = OutboundDeps & Pick<Deps, "now" | "oidc">;

/** For each request, and for all requests of one step. */
export const TIMEOUT_MS = 10_000;

const BODY_MAX = 256 * 1024;

export type CustomFetch = ReturnType<typeof fetchThrough>;

/** Bodies that a `Response` must not have. */
const WITHOUT_BODY = [204, 205, 304];

/** Sends the library's requests through the guard of outbound connections, without redirects. */
export const fetchThrough = (deps: OutboundDeps) =>
async (
  url: string,
  { method, headers, body, signal }: {
    method: string;
    headers: Record<string, string>;
    body?: unknown;
    signal?: AbortSignal | undefined;
  },
): Promise<Response> => {
  const answer = await outboundRequest(deps, {
    url,
    reach: "internal",
    method,
    headers,
    ...(body !== undefined && body !== null && { body: String(body) }),
    timeoutMs: TIMEOUT_MS,
    bodyMax: BODY_MAX,
    signal,
  });
  const { status } = answer;
  if (status < 200 || status > 599) throw new OutboundError("network", `Status ${status}`);
  return new Response(WITHOUT_BODY.includes(status) ? null : answer.body, {
    status,
    headers: answer.headers,
  });
};
