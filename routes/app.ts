/**
 * The HTTP application: what happens to every request before and after its endpoint.
 *
 * @module
 */

import { Hono } from "hono";
import { recordAudit } from "../services/ce/auth/audit.ts";
import type { Deps } from "../services/deps.ts";
import { AppError } from "../services/errors.ts";
import { guard } from "../services/editions.ts";
import { createCurrentAccessPolicy } from "../services/access_policy.ts";
import { errorFields } from "../services/log.ts";
import { clientAddress, trustedPeer } from "./client_address.ts";
import { corsHeaders, preflight } from "./cors.ts";
import {
  baseRoutes,
  type EditionRoutes,
  everyRoute,
  type Extension,
  extensions,
  isCounted,
  pathOfHost,
} from "./editions.ts";
import { failureOf } from "./errors.ts";
import { type AppEnv, type Exchange, requestIdOf, respondJson } from "./exchange.ts";
import type { Audit, Identify, RequestContext } from "./request_context.ts";
import { mount } from "./mount.ts";
import { openApiDocument } from "./openapi/document.ts";
import { createRequestLog, loggedPath, pathOf } from "./request_log.ts";
import { unknownPath } from "./unknown_path.ts";
import { rateLimit, UNLIMITED_PATHS } from "./rate_limit.ts";
import { identify } from "./authorize.ts";
import { VERSION } from "../services/version.ts";

/** Answers a request; never rejects. `peer` is the address of the other end of the connection. */
export type App = (request: Request, peer: string) => Promise<Response>;

/** @param who Finds the caller of a request; by the accounts unless given. */
export function createApp(deps: Deps, who: Identify = identify(deps)): App {
  const { config, license, log, now, vitals } = deps;
  const audit: Audit = (record) => {
    try {
      recordAudit(deps, record);
    } catch (error) {
      // What was done is done; a full disk must not make it look undone.
      log.error("audit entry lost", { action: record.action, ...errorFields(error) });
    }
  };
  const gatekeeper: RequestContext = {
    license,
    identify: who,
    audit,
    guard: createCurrentAccessPolicy(deps, guard),
  };
  let document: Promise<string> | undefined;
  const openApi = () => document ??= printOpenApi();
  const base = router(baseRoutes(deps, openApi));
  const extended = extensions.map(extensionRouter);

  const addressOf = clientAddress(config.trustedProxies);
  const isProxy = trustedPeer(config.trustedProxies);
  const limit = rateLimit(config.rateLimitPerMinute, now);
  const logRequest = createRequestLog(deps);
  const cors = corsHeaders(config.corsOrigins);
  const hosted = pathOfHost(deps);
  const counted = isCounted(deps);

  return async function answer(request, peer) {
    const started = performance.now();
    vitals.requestBegan();
    const exchange: Exchange = {
      requestId: requestIdOf(request),
      address: peer,
      headers: cors(request),
    };
    let response: Response;
    try {
      assertUrl(request);
      exchange.address = addressOf(peer, request.headers);
      if (!UNLIMITED_PATHS.includes(pathOf(request)) && counted(request)) {
        limit.check(exchange.address);
      }
      response = preflight(request, exchange) ??
        await dispatch(onHost(believed(request, peer)), exchange);
    } catch (error) {
      response = answerFailure(error, exchange, request);
    }
    const { method } = request;
    const { status } = response;
    const ms = performance.now() - started;
    vitals.requestEnded({ method, route: exchange.route, status, ms });
    logRequest(request, exchange, status, ms);
    return response;
  };

  /** Only a proxy that the operator trusts can say how the client reached it. */
  function believed(request: Request, peer: string): Request {
    if (!request.headers.has("x-forwarded-proto") || isProxy(peer)) return request;
    const headers = new Headers(request.headers);
    headers.delete("x-forwarded-proto");
    return new Request(request, { headers });
  }

  /** As if it had asked for the path that its host stands for. */
  function onHost(request: Request): Request {
    const path = hosted(request);
    return path === undefined ? request : new Request(new URL(path, request.url), request);
  }

  async function printOpenApi(): Promise<string> {
    return JSON.stringify(openApiDocument(await everyRoute(deps, openApi), VERSION));
  }

  function router(routes: EditionRoutes[]): Hono<AppEnv> {
    const hono = new Hono<AppEnv>({ strict: false });
    for (const each of routes) mount(hono, each, gatekeeper);
    hono.notFound(unknownPath(routes));
    hono.onError((error, c) => answerFailure(error, c.env, c.req.raw));
    return hono;
  }

  /** Loads the extension for its first request; after a failure the next request tries again. */
  function extensionRouter({ edition, prefix, load }: Extension) {
    let loading: Promise<Hono<AppEnv>> | undefined;
    const begin = async () => router([{ edition, prefix, endpoints: await load(deps) }]);
    return {
      answers: (path: string) => path.startsWith(`${prefix}/`),
      load: () =>
        loading ??= begin().catch((error) => {
          loading = undefined;
          throw error;
        }),
    };
  }

  async function dispatch(request: Request, exchange: Exchange): Promise<Response> {
    const path = pathOf(request);
    const extension = extended.find(({ answers }) => answers(path));
    const hono = extension ? await extension.load() : base;
    if (request.method !== "HEAD") return await hono.fetch(request, exchange);
    // The body of a stream has to be let go of, or it would run on with nobody reading.
    const { url, headers } = request;
    exchange.isHead = true;
    const response = await hono.fetch(new Request(url, { headers }), exchange);
    await response.body?.cancel();
    return new Response(null, response);
  }

  function answerFailure(error: unknown, exchange: Exchange, request: Request): Response {
    const { status, body, headers } = failureOf(error, license.edition);
    if (status === 500) {
      log.error("request failed", {
        requestId: exchange.requestId,
        method: request.method,
        path: loggedPath(request),
        ...errorFields(error),
      });
    }
    return respondJson(exchange, status, body, headers);
  }
}

/** A name or an address, and a port. */
const WELL_FORMED_HOST = /^[\w.:[\]-]*$/;

/**
 * The runtime joins host and path without a check. A host with a slash would be read as the
 * beginning of the path, and one like `a:99999` makes a URL that nothing can parse.
 */
function assertUrl({ url, headers }: Request): void {
  if (WELL_FORMED_HOST.test(headers.get("host") ?? "") && URL.canParse(url)) return;
  throw new AppError("invalid", "The Host header must be a name or an address, and a port");
}
