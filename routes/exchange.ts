/**
 * One request and its answer: what is known of the request before any endpoint sees it, and the
 * headers that every answer carries. They are written here, once, together with the answer's own:
 * a chain of middlewares that each add a header costs a third of the throughput.
 *
 * @module
 */

/** What is known of a request before any endpoint sees it. */
export interface Exchange {
  requestId: string;
  /** The client's address, as seen behind trusted proxies. */
  address: string;
  /** Whether only the head of the answer was asked for. */
  isHead?: true;
  /** Whether the caller was identified. */
  isKnown?: true;
  /** Path pattern of the endpoint that answers, once it is found. */
  route?: string;
  /** Headers for the answer that depend on the request (CORS). */
  headers: Record<string, string>;
}

/** The environment of our Hono app: `c.env` is the exchange. */
export type AppEnv = { Bindings: Exchange };

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** A request id taken over from the request: short, and harmless in any log or header. */
const WELL_FORMED_ID = /^[\w.:=+\/-]{1,128}$/;

/** The request's own id where it is well-formed, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && WELL_FORMED_ID.test(given) ? given : crypto.randomUUID();
}

/** An answer with the headers that all have; those of `headers` win, and both of `vary` count. */
export function respond(
  exchange: Exchange,
  status: number,
  body: BodyInit | null,
  headers: Record<string, string>,
): Response {
  const { vary } = exchange.headers;
  return new Response(body, {
    status,
    headers: {
      ...SECURITY_HEADERS,
      "cache-control": "no-store",
      "x-request-id": exchange.requestId,
      ...exchange.headers,
      ...headers,
      ...(vary !== undefined && headers.vary !== undefined && { vary: `${vary}, ${headers.vary}` }),
    },
  });
}

export function respondJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return respond(exchange, status, JSON.stringify(body), {
    "content-type": "application/json; charset=utf-8",
    ...headers,
  });
}
