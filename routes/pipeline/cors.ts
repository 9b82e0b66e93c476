/** Access for browser pages of the origins in `CORS_ORIGINS`. @module */

import { type Exchange, respond } from "./exchange.ts";

/** Time for which a browser may cache a preflight response, in seconds. */
const PREFLIGHT_AGE_S = 600;

/** Creates the function that gives the CORS headers of a response. */
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

/** Answers a preflight request; `undefined` for any other request. */
export function preflight(request: Request, exchange: Exchange): Response | undefined {
  const isPreflight = request.method === "OPTIONS" &&
    request.headers.has("access-control-request-method") &&
    exchange.headers["access-control-allow-origin"] !== undefined;
  if (!isPreflight) return undefined;
  return respond(exchange, 204, null, {
    "access-control-allow-methods": "GET, POST, PUT, DELETE",
    "access-control-allow-headers": "Authorization, Content-Type, If-None-Match, Last-Event-ID",
    "access-control-max-age": String(PREFLIGHT_AGE_S),
  });
}
