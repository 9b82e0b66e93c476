/**
 * Serves endpoints with Hono. The order of refusals is the contract's: address (403), token (401),
 * edition (402), role (403), input (400, 413, 415), and only then the handler, which may find
 * nothing (404).
 *
 * @module
 */

import type { Context, Hono } from "hono";
import { isLimited, type ScopedHost } from "../../services/access/scope.ts";
import { accessCheck, admitUser, permissionsGrantedTo, rightsOfUser } from "./access.ts";
import { accounting } from "./accounting.ts";
import type { Edition } from "../../services/edition.ts";
import type { EditionRoutes } from "../editions.ts";
import type { Endpoint, Input, RawResponse } from "../contract/endpoint.ts";
import { type AppEnv, respond, respondRaw } from "./exchange.ts";
import { limitLargeBodies } from "./large_body.ts";
import { sendRepresentation } from "./representation.ts";
import {
  type EndpointDeps,
  type Env,
  type PartCheck,
  type Serve,
  validated,
} from "./request_context.ts";
import { JSON_HEADERS, type ResponseCache, responseCache } from "./response_cache.ts";
import { inputCheck } from "./validation.ts";

/** Status of a response that is a WebSocket. */
const SWITCHING_PROTOCOLS = 101;

/** Adds an edition's endpoints. */
export function mount(
  app: Hono<AppEnv>,
  { edition, prefix, endpoints }: EditionRoutes,
  deps: EndpointDeps,
): void {
  for (const endpoint of endpoints) {
    // A group's root is served without a trailing slash.
    const route = (prefix + endpoint.path).replace(/(.)\/$/, "$1");
    (app as unknown as Hono<Env>).on(
      endpoint.method.toUpperCase(),
      [route],
      // Without the pattern of a parameter, e.g. `{.+}`.
      accounting(
        endpoint,
        route.split("{")[0]!,
        deps,
        pipeline(endpoint, edition, endpoints, deps),
      ),
    );
  }
}

/** The checks and the handler of an endpoint as one function. */
function pipeline(
  endpoint: Endpoint,
  edition: Edition,
  group: readonly Endpoint[],
  deps: EndpointDeps,
): Serve {
  const checkAccess = accessCheck(endpoint, edition, deps);
  const checkInput = inputCheck(endpoint, group);
  const cache = responseCache(endpoint.version);
  const handle = handler(endpoint, cache, checkAccess, deps);

  const hasBody = endpoint.body !== undefined || endpoint.form !== undefined;
  const serve = limitLargeBodies(endpoint, deps, serveAdmitted);

  return async (c) => {
    await checkAccess(c);
    return await serve(c);
  };

  async function serveAdmitted(c: Context<Env>): Promise<Response> {
    if (endpoint.actsOnGet && c.env.isHead) return respond(c.env, 200, null, {});
    // A cached response is the one of callers that see everything. Its query was valid before.
    const isShared = !isLimited(c.get("caller").scope);
    const cached = isShared ? cache.find(c.req.raw) : undefined;
    if (cached) return respondRaw(c.env, sendRepresentation(cached, c.req.raw));
    await checkInput(c);
    // A body may take minutes, in which its caller loses the right to send it.
    if (hasBody && endpoint.role !== "public") await checkAccess(c);
    return await handle(c, isShared);
  }
}

function handler(
  endpoint: Endpoint,
  cache: ResponseCache,
  checkAccess: PartCheck,
  { containerNames, scopes }: Pick<EndpointDeps, "containerNames" | "scopes">,
) {
  const status = endpoint.status ?? 200;
  const isContainerAction = endpoint.scope === "container" &&
    (endpoint.method !== "get" || endpoint.upgrades || endpoint.audited);

  return async (c: Context<Env>, isShared: boolean): Promise<Response> => {
    const exchange = c.env;
    const request = c.req.raw;
    const caller = c.get("caller");
    const version = isShared ? cache.currentVersion() : undefined;
    const input = {
      params: endpoint.params && validated(c, "param"),
      query: endpoint.query && validated(c, "query"),
      body: endpoint.form || endpoint.body ? validated(c, "body") : undefined,
      caller,
      request: endpoint.upgrades || endpoint.forwards ? exchange.received ?? request : request,
      requestId: exchange.requestId,
      note: c.get("note"),
      recordPhase: c.get("recordPhase"),
      admit: (userId: string) => admitUser(c, userId),
      assertAllowed: async () => void await checkAccess(c),
      rightsOf: (userId: string) => rightsOfUser(c, userId),
      grantedTo: (userId: string, host?: ScopedHost) => permissionsGrantedTo(c, userId, host),
      setCookie: (cookie: string) => exchange.headers["set-cookie"] = cookie,
    };
    const result = await (isShared ? handle(input) : handleLimited(input));
    const isUpgrade = endpoint.forwards && (result as Response).status === SWITCHING_PROTOCOLS;
    if (endpoint.upgrades || isUpgrade) return result as Response;
    if (endpoint.produces !== undefined || result instanceof Response) {
      return respondRaw(exchange, result as RawResponse);
    }
    const json = JSON.stringify(endpoint.returns.parse(result));
    if (!endpoint.etag) return respond(exchange, status, json, JSON_HEADERS);
    return respondRaw(exchange, sendRepresentation(cache.add(request, version, json), request));
  };

  function handle(input: AnyInput): unknown {
    const { id } = (input.params ?? {}) as PathParams;
    if (isContainerAction && id !== undefined) input.note.targets = containerNames(id);
    return endpoint.handle(input);
  }

  /** Handles the request of an API token that is limited to stacks or containers. */
  async function handleLimited(input: AnyInput): Promise<unknown> {
    const { caller } = input;
    try {
      const params = input.params as PathParams | undefined;
      const resolved = params && await scopes.resolve(endpoint, caller, params);
      return await handle({ ...input, params: resolved });
    } catch (error) {
      throw scopes.redact(error, caller, [input.params, input.query, input.body]);
    }
  }
}

type AnyInput = Input<unknown, unknown, unknown>;

type PathParams = Record<string, string>;
