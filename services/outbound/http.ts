/**
 * HTTP requests to addresses that a user gave. Every connection goes to an address that was checked
 * for it, and everything that the other side decides has a limit.
 *
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import { nodeHttp, nodeHttps, nodeNet, nodeTls } from "../builtins.ts";
import { withTimeLimit } from "../deadline.ts";
import { comparableHost } from "./address.ts";
import { connectOptions } from "./connection.ts";
import { asOutboundError, OutboundError, timeoutError } from "./error.ts";
import { requestHeaders } from "./headers.ts";
import { checkProxied, connectThrough, type Proxy, proxyFor } from "./proxy.ts";
import { type BodyOver, readBody, unpack } from "./response_body.ts";
import { type OutboundDeps, type OutboundReach, parseOutboundUrl, resolveOutbound } from "./url.ts";

interface OutboundRequest {
  url: string;
  reach: OutboundReach;
  /** Default: GET. */
  method?: string;
  /**
   * Checked before with `outboundHeaderProblem()`. Not sent to another origin after a redirect.
   */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For the whole call: DNS lookup, connections, redirects and the body. */
  timeoutMs: number;
  /** Maximum size of the response body, in bytes. */
  bodyMax: number;
  /**
   * Handling of a larger body. Default: `fail`. With `optional` only the status matters: such a
   * body is cut also if it is late or breaks off.
   */
  bodyOver?: BodyOver;
  /** Maximum number of redirects that are followed. Default: 0, which returns a redirect as is. */
  redirectsMax?: number;
  /** Whether a redirect from https to http is refused. */
  keepsTls?: boolean;
  /** PEM: authorities whose certificates are trusted besides those of the system. */
  caCertificates?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface OutboundResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
  /** The body as UTF-8; invalid bytes are replaced. */
  text(): string;
  /** @throws {SyntaxError} */
  json<T>(): T;
  /** From the start of the call to the end of the body. */
  durationMs: number;
  /** The URL that responded, after redirects. */
  url: string;
}

/** Also sent to another origin. Any other header may contain a credential of the first origin. */
const NEUTRAL_HEADERS = new Set(["accept", "accept-language"]);

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const METHOD = /^[A-Z]{1,20}$/;

/** Maximum number of interim responses (1xx) before the final one. */
const INTERIM_MAX = 16;

/** Maximum size of the response head, in bytes. */
const HEAD_MAX = 32 * 1024;

const HEADERS_MAX = 128;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Makes one HTTP/1.1 request, without cookies, cache or stored credentials. The target of each
 * redirect is checked like the first URL.
 *
 * @throws {OutboundError}
 * @throws {TypeError} For a method or header that must not be sent.
 */
export async function outboundRequest(
  deps: OutboundDeps,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const startMs = performance.now();
  const { redirectsMax = 0, keepsTls = false, timeoutMs, signal } = request;
  return await withTimeLimit({ timeoutMs, signal, timeoutError }, async (limit) => {
    let hop: Hop = {
      url: parseUrl(request.url),
      method: request.method ?? "GET",
      headers: request.headers ?? {},
      body: typeof request.body === "string" ? encoder.encode(request.body) : request.body,
    };
    for (let redirects = 0;; redirects++) {
      const answer = await exchange(deps, request, hop, limit);
      const next = redirectsMax > 0 ? nextHop(hop, answer) : undefined;
      if (!next) return toResponse(answer, hop, startMs);
      if (keepsTls && hop.url.protocol === "https:" && next.url.protocol !== "https:") {
        throw new OutboundError("redirect", `${hop.url.host} redirects to an address without TLS`);
      }
      if (redirects === redirectsMax) {
        throw new OutboundError("redirect", `More than ${redirectsMax} redirects`);
      }
      hop = next;
    }
  });
}

/** One request of a call; each redirect adds another. */
interface Hop {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

function parseUrl(text: string): URL {
  const url = parseOutboundUrl(text);
  if (typeof url === "string") throw new OutboundError("blocked", `The address ${url}`);
  return url;
}

async function exchange(
  deps: OutboundDeps,
  { reach, bodyMax, bodyOver = "fail", timeoutMs, caCertificates }: OutboundRequest,
  { url, method, headers, body }: Hop,
  signal: AbortSignal,
): Promise<Answer> {
  if (!METHOD.test(method)) throw new TypeError(`Not an HTTP method: ${method}`);
  const sentHeaders = requestHeaders(method, headers, body);
  const configured = proxyFor(deps.config, url);
  const near = configured && await checkProxied(deps, url.hostname, reach, signal);
  const proxy = near ? undefined : configured;
  const options = {
    agent: false,
    ...(caCertificates !== undefined && { ca: caCertificates }),
    method,
    headers: sentHeaders,
    maxHeaderSize: HEAD_MAX,
    signal,
  };
  const sent = proxy ? await requestThrough(proxy, url, options) : requestDirectly(url, {
    ...connectOptions(near ?? await resolveOutbound(deps, url.hostname, reach, signal), timeoutMs),
    ...options,
  });
  try {
    sent.end(body);
    const response = await receiveResponse(sent);
    if (response.rawHeaders.length > 2 * HEADERS_MAX) {
      throw new OutboundError("too_large", `${url.host} sent more than ${HEADERS_MAX} headers`);
    }
    const headers = joinHeaders(response);
    const sentBody = await readBody(response, bodyMax, bodyOver);
    return {
      status: response.statusCode!,
      headers,
      // A part of a compressed body cannot be unpacked.
      body: bodyOver === "fail" ? unpack(sentBody, headers["content-encoding"], bodyMax) : sentBody,
    };
  } catch (cause) {
    const isPlain = proxy && url.protocol === "http:";
    throw asOutboundError(cause, isPlain ? { host: proxy.name } : url);
  } finally {
    sent.destroy();
  }
}

function requestDirectly(url: URL, options: RequestOptions): ClientRequest {
  const { request } = url.protocol === "https:" ? nodeHttps() : nodeHttp();
  return request(url, options);
}

/** With TLS through a tunnel, and without by a request to the proxy, which names the address. */
async function requestThrough(
  proxy: Proxy,
  url: URL,
  options: RequestOptions & { headers: Record<string, string>; signal: AbortSignal },
): Promise<ClientRequest> {
  if (url.protocol === "http:") {
    const { href } = new URL(url.pathname + url.search, url);
    const headers = { ...options.headers, ...proxy.headers, host: url.host };
    return nodeHttp().request({ ...options, ...proxy.at, path: href, headers });
  }
  const target = `${url.hostname}:${url.port || 443}`;
  const socket = await connectThrough(proxy, target, options.signal);
  const host = comparableHost(url.hostname);
  const servername = nodeNet().isIP(host) ? {} : { servername: host };
  const secured = nodeTls().connect({ socket, host, ...servername, ca: options.ca });
  // With an agent, the runtime ignores the connection.
  const { agent: _, ...others } = options;
  return nodeHttps().request(url, { ...others, createConnection: () => secured });
}

function receiveResponse(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    sent.on("information", () => {
      if (++interim > INTERIM_MAX) sent.destroy();
    });
    sent.once("response", (response) => {
      response.on("error", () => {}); // the reader of the body gets it as well
      resolve(response);
    });
    // Stays: a socket may still fail after the response.
    sent.on("error", reject);
    sent.once("close", () => reject(new Error("The connection was closed without a response")));
  });
}

/** Node has `set-cookie` as a list. */
function joinHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]),
  );
}

/**
 * Returns the next request if the answer is a redirect (RFC 9110, 15.4; methods as in browsers).
 *
 * @throws {OutboundError} `redirect` for an unusable address, and if a body would have to be sent
 * to another origin: it may contain credentials, and without it the request has another meaning.
 */
function nextHop(hop: Hop, { status, headers: { location } }: Answer): Hop | undefined {
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const target = URL.parse(location, hop.url);
  const url = target && parseOutboundUrl(target.href);
  // The raw text is checked as well, because the parser repairs what must be refused.
  // deno-lint-ignore no-control-regex
  if (!url || typeof url === "string" || /[\x00-\x20\x7f\\]/.test(location)) {
    throw new OutboundError("redirect", `${hop.url.host} redirects to an unusable address`);
  }
  const becomesGet = status === 303 && hop.method !== "HEAD" ||
    status < 303 && hop.method === "POST";
  const isSameOrigin = url.origin === hop.url.origin;
  if (!isSameOrigin && !becomesGet && hop.body) {
    throw new OutboundError(
      "redirect",
      `${hop.url.host} redirects to another origin; the request body is not sent there`,
    );
  }
  return {
    url,
    method: becomesGet ? "GET" : hop.method,
    body: becomesGet ? undefined : hop.body,
    headers: Object.fromEntries(
      Object.entries(hop.headers).filter(([name]) =>
        (isSameOrigin || NEUTRAL_HEADERS.has(name.toLowerCase())) &&
        !(becomesGet && name.toLowerCase() === "content-type")
      ),
    ),
  };
}

function toResponse(answer: Answer, { url }: Hop, startMs: number): OutboundResponse {
  const text = () => decoder.decode(answer.body);
  return {
    ...answer,
    text,
    json: <T>() => JSON.parse(text()) as T,
    durationMs: Math.round(performance.now() - startMs),
    url: url.href,
  };
}
