/**
 * HTTP requests to addresses that a user gave. Every connection goes to an address that was checked
 * for it, and everything that the other side decides has a limit.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import type { ClientRequest, IncomingMessage } from "node:http";
import { nodeHttp, nodeHttps, nodeZlib } from "../builtins.ts";
import { withDeadline, withTimeLimit } from "../deadline.ts";
import { VERSION } from "../version.ts";
import { connectOptions } from "./connection.ts";
import { asOutboundError, OutboundError, timeoutError } from "./error.ts";
import { type OutboundDeps, type OutboundReach, parseOutboundUrl, resolveOutbound } from "./url.ts";

interface OutboundRequest {
  url: string;
  reach: OutboundReach;
  /** Default: GET. */
  method?: string;
  /**
   * Checked before with {@linkcode outboundHeaderProblem}. Not sent to another origin after a
   * redirect.
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

type BodyOver = "fail" | "cut" | "optional";

/** Wait for an optional body, in milliseconds. */
const OPTIONAL_BODY_MS = 1_000;

/** Headers that this module sets itself, or that change how the message is framed. */
const RESERVED_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
]);

/** Also sent to another origin. Any other header may contain a credential of the first origin. */
const NEUTRAL_HEADERS = new Set(["accept", "accept-language"]);

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const CODINGS = new Set(["gzip", "x-gzip", "deflate", "br"]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Maximum length of a header's value that a user gives. */
const USER_VALUE_MAX = 4_096;

/** Maximum length of a value that is sent: tokens of registries have several kilobytes. */
export const SENT_VALUE_MAX = 16_384;

const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const METHOD = /^[A-Z]{1,20}$/;

/** Maximum number of interim responses (1xx) before the final one. */
const INTERIM_MAX = 16;

/** Maximum size of the response head, in bytes. */
const HEAD_MAX = 32 * 1024;

const HEADERS_MAX = 128;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns what is wrong with a header that a user wants to send; `undefined` if nothing is. */
export function outboundHeaderProblem(
  name: string,
  value: string,
  valueMax = USER_VALUE_MAX,
): string | undefined {
  if (!HEADER_NAME.test(name)) return "not a header name";
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    return "belongs to the connection and cannot be set";
  }
  if (value.length > valueMax || !HEADER_VALUE.test(value)) {
    return `must be at most ${valueMax} printable ASCII characters`;
  }
  return undefined;
}

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
  const { redirectsMax = 0, timeoutMs, signal } = request;
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
  const addresses = await resolveOutbound(deps, url.hostname, reach, signal);
  const { request } = url.protocol === "https:" ? nodeHttps() : nodeHttp();
  const sent = request(url, {
    ...connectOptions(addresses, timeoutMs),
    agent: false,
    ...(caCertificates !== undefined && { ca: caCertificates }),
    method,
    headers: sentHeaders,
    maxHeaderSize: HEAD_MAX,
    signal,
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
    throw asOutboundError(cause, url);
  } finally {
    sent.destroy();
  }
}

/** @throws {TypeError} For a header that a user may not set. */
function requestHeaders(
  method: string,
  headers: Record<string, string>,
  body: Uint8Array | undefined,
): Record<string, string> {
  const all: Record<string, string> = { "user-agent": `Longshore/${VERSION}`, accept: "*/*" };
  for (const [name, value] of Object.entries(headers)) {
    const problem = outboundHeaderProblem(name, value, SENT_VALUE_MAX);
    if (problem) throw new TypeError(`Header ${JSON.stringify(name)}: ${problem}`);
    all[name.toLowerCase()] = value;
  }
  // A compressed body costs the time to unpack it.
  all["accept-encoding"] = "identity";
  if (body || !["GET", "HEAD"].includes(method)) all["content-length"] = `${body?.length ?? 0}`;
  return all;
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

async function readBody(
  response: IncomingMessage,
  max: number,
  over: BodyOver,
): Promise<Uint8Array<ArrayBuffer>> {
  // A caller that needs nothing of the body does not wait for it.
  if (max === 0 && over !== "fail") return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  const reading = readPieces(response, max, over, pieces);
  if (over === "optional") await withDeadline(reading.catch(() => {}), OPTIONAL_BODY_MS);
  else await reading;
  return new Uint8Array(Buffer.concat(pieces).subarray(0, max));
}

/** Reads up to `max` bytes into `pieces`. */
async function readPieces(
  response: IncomingMessage,
  max: number,
  over: BodyOver,
  pieces: Uint8Array[],
): Promise<void> {
  let length = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > max && over === "fail") {
      throw new OutboundError("too_large", `The answer is larger than the ${max} bytes allowed`);
    }
    pieces.push(piece);
    if (length >= max && over !== "fail") break;
  }
}

/** Some proxies compress what was requested as it is; the unpacked body has the same limit. */
function unpack(
  body: Uint8Array<ArrayBuffer>,
  encoding: string | undefined,
  max: number,
): Uint8Array<ArrayBuffer> {
  const coding = encoding?.trim().toLowerCase();
  if (body.length === 0 || coding === undefined || !CODINGS.has(coding)) return body;
  const { brotliDecompressSync, unzipSync } = nodeZlib();
  try {
    const unpackCoding = coding === "br" ? brotliDecompressSync : unzipSync;
    return new Uint8Array(unpackCoding(body, { maxOutputLength: max }));
  } catch (cause) {
    if (Object(cause).code === "ERR_BUFFER_TOO_LARGE") {
      throw new OutboundError("too_large", `The answer is larger than the ${max} bytes allowed`);
    }
    throw new OutboundError("network", "The answer is not compressed as it says", { cause });
  }
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
