/**
 * A request before it reaches an endpoint, and the headers that every response has. All headers are
 * set at once: a chain of middlewares that each add one costs a third of the throughput.
 *
 * @module
 */

import type { Caller } from "../../services/access/caller.ts";
import type { RawResponse } from "../contract/endpoint.ts";

/** A request that a hub passed on; its note was checked. */
export interface Noted {
  caller: Caller;
  /** As the private socket received it. */
  received: Request;
}

/** A request as far as it is known before it reaches an endpoint. */
export interface Exchange {
  /** The request as the server received it; only that can become a WebSocket. */
  received?: Request;
  requestId: string;
  /** The caller of a request that a hub passed on. */
  noted?: Caller;
  /** The client's address, as seen behind trusted proxies. */
  address: string;
  /** Whether the method is HEAD. */
  isHead?: true;
  /** Whether the caller was identified. */
  isKnown?: true;
  /** Path pattern of the endpoint, once it is found. */
  route?: string;
  /** Response headers that depend on the request (CORS, cookies). */
  headers: Record<string, string>;
}

/** The environment of the Hono app: `c.env` is the exchange. */
export type AppEnv = { Bindings: Exchange };

const COMMON_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

const encoder = new TextEncoder();

/** A request id that is short, and harmless in any log or header. */
const WELL_FORMED_ID = /^[\w.:=+\/-]{1,128}$/;

/** The value of `X-Request-Id` if it is well-formed, or a new id. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && WELL_FORMED_ID.test(given) ? given : crypto.randomUUID();
}

/** Bytes of a body that takes less than a stream of it. */
export const SMALL_BYTES = 2_048;

const wholeBodies = new WeakMap<Response, Uint8Array<ArrayBuffer>>();

/** @returns `undefined` for a response without a body, or with one that is produced while it is sent. */
export const wholeBody = (response: Response): Uint8Array<ArrayBuffer> | undefined =>
  wholeBodies.get(response);

/**
 * Creates a response with the common headers. `headers` take precedence; `vary` is combined. Larger
 * bodies are sent as streams: the runtime reports only their delivery, and copies others.
 */
export function respond(
  exchange: Exchange,
  status: number,
  body: BodyInit | null,
  headers: Record<string, string>,
): Response {
  const all: Record<string, string> = {
    ...COMMON_HEADERS,
    "x-request-id": exchange.requestId,
    ...exchange.headers,
    ...headers,
  };
  const { vary } = exchange.headers;
  if (vary !== undefined && headers.vary !== undefined) all.vary = `${vary}, ${headers.vary}`;
  const bytes = bytesOf(body);
  if (bytes) all["content-length"] = String(bytes.length);
  const content = bytes && bytes.length > SMALL_BYTES ? streamOf(bytes) : bytes ?? body;
  const response = new Response(content, { status, headers: all });
  if (bytes) wholeBodies.set(response, bytes);
  return response;
}

function bytesOf(body: BodyInit | null): Uint8Array<ArrayBuffer> | undefined {
  if (typeof body === "string") return encoder.encode(body);
  return body instanceof Uint8Array ? body as Uint8Array<ArrayBuffer> : undefined;
}

/** A stream of bytes, which are not copied. */
export function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

/** Adds the common headers to the response of an endpoint. */
export function respondRaw(
  exchange: Exchange,
  { status, headers, body }: RawResponse,
): Response {
  const plain = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  return respond(exchange, status, body, plain);
}

/** Answers `GET /livez` during the start. */
export const respondAlive = (exchange: Exchange): Response =>
  respondJson(exchange, 200, { status: "ok" });

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
