/**
 * The HTTP application: address, rate limit, routing, failures and the log of every request.
 *
 * @module
 */

import { recordAudit } from "../services/access/audit/audit.ts";
import { namesOf } from "../services/containers/reads.ts";
import type { Deps } from "../services/deps.ts";
import { AppError } from "../services/errors.ts";
import { errorFields } from "../services/log.ts";
import { clientAddress, trustedPeer } from "./pipeline/client_address.ts";
import { corsHeaders, preflight } from "./pipeline/cors.ts";
import { type EditionGroup, everyRoute, groups, isUnlimited, pathOfHost } from "./editions.ts";
import { loadEndpoints, pathTest } from "./contract/group.ts";
import { failureOf } from "./pipeline/errors.ts";
import {
  type Exchange,
  type Noted,
  requestIdOf,
  respondJson,
  respondRaw,
} from "./pipeline/exchange.ts";
import { assertEnrolled } from "../services/access/factors/enrolment.ts";
import type { Audit, EndpointDeps, Identify } from "./pipeline/request_context.ts";
import { createRequestLog, loggedPath } from "./pipeline/request_log.ts";
import { pathOf } from "./pipeline/request_url.ts";
import { isProbe, rateLimit } from "./pipeline/rate_limit.ts";
import { createScopeCheck } from "./pipeline/scope.ts";
import { identify } from "./pipeline/authorize.ts";
import { createRouter, type Router } from "./pipeline/router.ts";
import { VERSION } from "../services/version.ts";

/**
 * Handles a request; never rejects. `peer` is the address of the other end of the connection.
 * With `noted`, a hub passed the request on, whose caller counts in place of the peer.
 */
export type App = (request: Request, peer: string, noted?: Noted) => Promise<Response>;

export function createApp(deps: Deps, identifyCaller: Identify = identify(deps)): App {
  const { config, license, log, now, vitals } = deps;
  const audit: Audit = (record) => {
    try {
      recordAudit(deps, record);
    } catch (error) {
      // The action has happened. A full disk must not turn its response into a failure.
      log.error("audit entry lost", { action: record.action, ...errorFields(error) });
    }
  };
  const endpointDeps: EndpointDeps = {
    license,
    identify: identifyCaller,
    audit,
    deniedReads: deps.deniedReads,
    changes: deps.changes,
    assertEnrolled: (caller) => assertEnrolled(deps, caller),
    currentPolicy: deps.accessPolicy,
    scopes: createScopeCheck(deps),
    largeBodies: deps.limiters.largeBodies,
    containerNames: (id) => namesOf(deps, [id]),
  };
  let document: Promise<string> | undefined;
  const openApi = () => document ??= printOpenApi();
  const routers = groups.map(groupRouter);

  const addressOf = clientAddress(config.trustedProxies);
  const isProxy = trustedPeer(config.trustedProxies);
  const limit = rateLimit(config.rateLimitPerMinute, now);
  const logRequest = createRequestLog(deps);
  const cors = corsHeaders(config.corsOrigins);
  const ownDomainPath = pathOfHost(deps);

  return async function handle(request, peer, noted) {
    const started = performance.now();
    vitals.recordRequestStart();
    const exchange: Exchange = {
      received: noted?.received ?? request,
      requestId: requestIdOf(request),
      address: peer,
      headers: cors(request),
      ...(noted && { noted: noted.caller }),
    };
    let response: Response;
    try {
      assertUrl(request);
      if (!noted) exchange.address = addressOf(peer, request.headers);
      if (!isProbe(pathOf(request)) && !isUnlimited(deps, request)) {
        limit.check(noted?.caller.userId ?? exchange.address);
      }
      response = preflight(request, exchange) ??
        await dispatch(withOwnDomainPath(withTrustedHeaders(request, peer)), exchange);
    } catch (error) {
      response = respondFailure(error, exchange, request);
    }
    const { method } = request;
    const { status } = response;
    const ms = performance.now() - started;
    vitals.recordRequestEnd({ method, route: exchange.route, status, ms });
    logRequest(request, exchange, status, ms);
    return response;
  };

  /** Removes `X-Forwarded-Proto` unless a trusted proxy set it. */
  function withTrustedHeaders(request: Request, peer: string): Request {
    if (request.headers.get("x-forwarded-proto") === null || isProxy(peer)) return request;
    const headers = new Headers(request.headers);
    headers.delete("x-forwarded-proto");
    return new Request(request, { headers });
  }

  /** A status page's own domain serves the page at `/`. */
  function withOwnDomainPath(request: Request): Request {
    const path = ownDomainPath(request);
    return path === undefined ? request : new Request(new URL(path, request.url), request);
  }

  async function printOpenApi(): Promise<string> {
    const { openApiDocument } = await import("./contract/openapi/document.ts");
    return JSON.stringify(openApiDocument(await everyRoute(deps, openApi), VERSION));
  }

  /** Loads the group on its first request; after a failure the next request tries again. */
  function groupRouter(group: EditionGroup) {
    let loading: Promise<Router> | undefined;
    const start = async () => {
      const endpoints = await loadEndpoints(group, deps, openApi);
      return createRouter({ ...group, endpoints }, endpointDeps, respondFailure);
    };
    return {
      serves: pathTest(group),
      load: () =>
        loading ??= start().catch((error) => {
          loading = undefined;
          throw error;
        }),
    };
  }

  async function dispatch(request: Request, exchange: Exchange): Promise<Response> {
    const path = pathOf(request);
    const group = routers.find(({ serves }) => serves(path));
    if (!group) return await respondPage(request, exchange);
    const router = await group.load();
    return request.method === "HEAD"
      ? await respondHead(router, request, exchange)
      : await router.fetch(request, exchange);
  }

  /** Cancels the body, because a stream would otherwise run without a reader. */
  async function respondHead(router: Router, request: Request, exchange: Exchange) {
    const { url, headers } = request;
    exchange.isHead = true;
    const response = await router.fetch(new Request(url, { headers }), exchange);
    await response.body?.cancel();
    return new Response(null, response);
  }

  /** Answers with a page or a file of the dashboard. These are not endpoints. */
  async function respondPage(request: Request, exchange: Exchange): Promise<Response> {
    const { respondDashboard } = await import("./dashboard/dashboard.ts");
    const policy = await endpointDeps.currentPolicy();
    const page = await respondDashboard(deps, request);
    if (!page) throw new AppError("not_found", `No such path: ${pathOf(request)}`);
    policy?.admit(exchange.address);
    return respondRaw(exchange, request.method === "HEAD" ? { ...page, body: null } : page);
  }

  function respondFailure(error: unknown, exchange: Exchange, request: Request): Response {
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

const WELL_FORMED_HOST = /^[\w.:[\]-]*$/;

/**
 * Refuses a malformed `Host`. The runtime joins host and path unchecked: the part of a host after a
 * slash would count as path, and `a:99999` gives a URL that cannot be parsed.
 */
function assertUrl({ url, headers }: Request): void {
  if (WELL_FORMED_HOST.test(headers.get("host") ?? "") && URL.canParse(url)) return;
  throw new AppError("invalid", "The Host header must be a name or address, with an optional port");
}
