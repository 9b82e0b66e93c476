/**
 * Serves endpoints with Hono. The order of refusals is the contract's: address (403), token (401),
 * edition (402), role (403), input (400, 413, 415), and only then the handler, which may find
 * nothing (404).
 *
 * @module
 */

import type { Context, Hono } from "hono";
import { accessCheck, admitUser } from "./access.ts";
import { accounting } from "./accounting.ts";
import type { EditionRoutes } from "./editions.ts";
import type { Endpoint, RawResponse } from "./endpoint.ts";
import { type AppEnv, type Exchange, respond } from "./exchange.ts";
import { sendRepresentation } from "./representation.ts";
import { type Env, type MiddlewareDeps, validated } from "./request_context.ts";
import { JSON_HEADERS, responseCache } from "./response_cache.ts";
import { inputCheck } from "./validation.ts";

/** Adds an edition's endpoints. */
export function mount(
  app: Hono<AppEnv>,
  { edition, prefix, endpoints }: EditionRoutes,
  deps: MiddlewareDeps,
): void {
  for (const endpoint of endpoints) {
    // A group's root is served without a trailing slash.
    const route = (prefix + endpoint.path).replace(/(.)\/$/, "$1");
    (app as unknown as Hono<Env>).on(
      endpoint.method.toUpperCase(),
      [route],
      accounting(endpoint, route, deps),
      accessCheck(endpoint, edition, deps),
      inputCheck(endpoint, endpoints),
      handler(endpoint),
    );
  }
}

function handler(endpoint: Endpoint) {
  const cache = responseCache(endpoint.version);
  const status = endpoint.status ?? 200;

  return async (c: Context<Env>): Promise<Response> => {
    const exchange = c.env;
    const request = c.req.raw;
    const cached = cache.find(request);
    if (cached) return respondRaw(exchange, sendRepresentation(cached, request));

    const version = cache.currentVersion();
    const result = await endpoint.handle({
      params: endpoint.params && validated(c, "param"),
      query: endpoint.query && validated(c, "query"),
      body: endpoint.form || endpoint.body ? validated(c, "body") : undefined,
      caller: c.get("caller"),
      request,
      note: c.get("note"),
      admit: (userId) => admitUser(c, userId),
    });
    if (endpoint.produces !== undefined) return respondRaw(exchange, result as RawResponse);
    const json = JSON.stringify(endpoint.returns.parse(result));
    if (!endpoint.etag) return respond(exchange, status, json, JSON_HEADERS);
    return respondRaw(exchange, sendRepresentation(cache.add(request, version, json), request));
  };
}

function respondRaw(exchange: Exchange, { status, headers, body }: RawResponse): Response {
  const plain = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  return respond(exchange, status, body, plain);
}
