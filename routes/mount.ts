/**
 * Serves endpoints with Hono. The order of refusals is the contract's: token (401), edition (402),
 * role (403), input (400, 413, 415), and only then the handler, which may find nothing (404).
 * Before all of them comes the address (403), where an allowlist is enforced.
 *
 * @module
 */

import type { Context, Hono } from "hono";
import { accounted } from "./accounting.ts";
import { answerCache, jsonHeaders, revalidated } from "./answer_cache.ts";
import type { EditionRoutes } from "./editions.ts";
import type { Endpoint, RawAnswer } from "./endpoint.ts";
import { type AppEnv, respond } from "./exchange.ts";
import { admitActor, gate } from "./access.ts";
import { type Env, type RequestContext, validated } from "./request_context.ts";
import { inputCheck } from "./validation.ts";

/** Adds an edition's endpoints. */
export function mount(
  app: Hono<AppEnv>,
  { edition, prefix, endpoints }: EditionRoutes,
  gatekeeper: RequestContext,
): void {
  for (const endpoint of endpoints) {
    // A group's root is served without a trailing slash.
    const route = (prefix + endpoint.path).replace(/(.)\/$/, "$1");
    (app as unknown as Hono<Env>).on(
      endpoint.method.toUpperCase(),
      [route],
      accounted(endpoint, route, gatekeeper),
      gate(endpoint, edition, gatekeeper),
      inputCheck(endpoint, endpoints),
      handler(endpoint),
    );
  }
}

function handler(endpoint: Endpoint) {
  const cache = answerCache(endpoint.version);
  const status = endpoint.status ?? 200;

  return async (c: Context<Env>): Promise<Response> => {
    const exchange = c.env;
    const request = c.req.raw;
    const kept = cache.find(request);
    if (kept) return revalidated(exchange, request, kept);

    const version = cache.version();
    const answer = await endpoint.handle({
      params: endpoint.params && validated(c, "param"),
      query: endpoint.query && validated(c, "query"),
      body: endpoint.form || endpoint.body ? validated(c, "body") : undefined,
      caller: c.get("caller"),
      request,
      note: c.get("note"),
      admit: (userId) => admitActor(c, userId),
    });
    if (endpoint.produces !== undefined) {
      const { status, headers, body } = answer as RawAnswer;
      const plain = headers instanceof Headers ? Object.fromEntries(headers) : headers;
      return respond(exchange, status, body, plain);
    }
    const text = JSON.stringify(endpoint.returns.parse(answer));
    if (!endpoint.etag) return respond(exchange, status, text, jsonHeaders);
    return revalidated(exchange, request, cache.keep(request, version, text));
  };
}
