/**
 * Browser pages from other origins, where the operator lists them.
 *
 * @module
 */

import { type Exchange, respond } from "./exchange.ts";

/** How long a browser may remember a preflight's answer, in seconds. */
const PREFLIGHT_AGE_S = 600;

/** Makes the function that gives the headers of an answer to a page of a listed origin. */
export function corsHeaders(origins: readonly string[]) {
  const listed = new Set(origins);
  return (request: Request): Record<string, string> => {
    if (listed.size === 0) return {};
    const origin = request.headers.get("origin");
    if (origin === null || !listed.has(origin)) return { vary: "origin" };
    return {
      vary: "origin",
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "ETag, RateLimit, Retry-After, X-Request-Id",
      "cross-origin-resource-policy": "cross-origin",
    };
  };
}

/** The answer to a browser's question before the request proper; `undefined` for any other. */
export function preflight(request: Request, exchange: Exchange): Response | undefined {
  const asks = request.method === "OPTIONS" &&
    request.headers.has("access-control-request-method") &&
    exchange.headers["access-control-allow-origin"] !== undefined;
  if (!asks) return undefined;
  return respond(exchange, 204, null, {
    "access-control-allow-methods": "GET, POST, PUT, DELETE",
    "access-control-allow-headers": "Authorization, Content-Type, If-None-Match, Last-Event-ID",
    "access-control-max-age": String(PREFLIGHT_AGE_S),
  });
}
