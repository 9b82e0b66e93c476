/** Requests to chats and other platforms. @module */

import type { OutboundDeps, OutboundReach } from "../outbound/url.ts";
import { outboundRequest } from "../outbound/http.ts";
import type { KindAnswer, KindRequest } from "./channels/kinds/kind.ts";

/** Time limit of one attempt, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Bytes read from a response; the platforms send a few hundred. */
const RESPONSE_MAX = 16 * 1024;

/**
 * Makes one request. Redirects are not followed.
 *
 * @param options.readsBody Whether the response's text is needed besides its status.
 * @throws {OutboundError}
 */
export async function exchange(
  deps: OutboundDeps,
  { url, method = "POST", headers, body }: KindRequest,
  { reach, signal, readsBody }: {
    reach: OutboundReach;
    signal: AbortSignal;
    readsBody: boolean;
  },
): Promise<KindAnswer> {
  const isJson = typeof body === "object";
  const response = await outboundRequest(deps, {
    url,
    reach,
    method,
    headers: {
      accept: "application/json, text/plain",
      ...(isJson && { "content-type": "application/json" }),
      ...headers,
    },
    ...(method !== "GET" && { body: isJson ? JSON.stringify(body) : body }),
    timeoutMs: TIMEOUT_MS,
    bodyMax: readsBody ? RESPONSE_MAX : 0,
    bodyOver: "optional",
    signal,
  });
  return { status: response.status, headers: response.headers, text: response.text() };
}
