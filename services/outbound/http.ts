/**
 * Calls to addresses that a user gave: HTTP over a connection to the very address that was
 * checked, with limits on everything that the other side decides.
 *
 * @module
 */

import { Body, framing } from "../../engine/body.ts";
import { ByteReader } from "../../engine/byte_reader.ts";
import { EngineProtocolError } from "../../engine/errors.ts";
import { type Head, parsedHead } from "../../engine/http.ts";
import { close, connect, type Limit, secured, withTimeLimit } from "./connection.ts";
import { type OutboundDeps, OutboundError, type OutboundReach, parseOutboundUrl } from "./url.ts";
import { VERSION } from "../version.ts";

export { outboundConnect } from "./connection.ts";
export { OutboundError, type OutboundReach };

export interface OutboundRequest {
  url: string;
  reach: OutboundReach;
  /** Default: GET. */
  method?: string;
  /** Checked with `outboundHeaderProblem()` before; not sent to another origin after a redirect. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For the whole call: resolving, connecting, all hops and the body. */
  timeoutMs: number;
  /** Most bytes of the answer's body. */
  bodyMax: number;
  /** What a larger body comes to. Default: `fail`. */
  bodyOver?: "fail" | "cut";
  /** Most redirects that are followed; 0 (default) takes a redirect for an answer like others. */
  redirectsMax?: number;
  signal?: AbortSignal | undefined;
}

export interface OutboundResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
  /** The body as UTF-8; what is none is replaced. */
  text(): string;
  /** @throws {SyntaxError} */
  json<T>(): T;
  /** From the beginning of the call to the end of the body. */
  durationMs: number;
  /** Where the answer came from, after redirects. */
  url: string;
}

/** Names that belong to the connection or to the message's frame, and so to this module. */
const OWN_HEADERS = new Set([
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

/** Sent to another origin as well: every other header may hold a credential of the first one. */
const NEUTRAL_HEADERS = new Set(["accept", "accept-language"]);

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]{0,4096}$/;
const METHOD = /^[A-Z]{1,20}$/;

/** Interim answers (1xx) that are skipped before the real one. */
const INTERIM_MAX = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What is wrong with a header that a user wants sent; `undefined` when nothing is. */
export function outboundHeaderProblem(name: string, value: string): string | undefined {
  if (!HEADER_NAME.test(name)) return "not the name of a header";
  if (OWN_HEADERS.has(name.toLowerCase())) return "belongs to the connection and cannot be set";
  if (!HEADER_VALUE.test(value)) return "may hold at most 4096 printable ASCII characters";
  return undefined;
}

/**
 * Makes one HTTP/1.1 request, without cookies, cache or credentials of its own. Every hop is
 * checked like the first.
 *
 * @throws {OutboundError}
 * @throws {TypeError} For a method or header that must not be sent.
 */
export async function outboundRequest(
  deps: OutboundDeps,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const startMs = performance.now();
  const { redirectsMax = 0 } = request;
  return await withTimeLimit(request, async (limit) => {
    let hop: Hop = {
      url: parsedUrl(request.url),
      method: request.method ?? "GET",
      headers: request.headers ?? {},
      body: typeof request.body === "string" ? encoder.encode(request.body) : request.body,
    };
    for (let redirects = 0;; redirects++) {
      const answer = await exchange(deps, request, hop, limit);
      const next = redirectsMax > 0 ? redirected(hop, answer) : undefined;
      if (!next) return response(answer, hop, startMs);
      if (redirects === redirectsMax) {
        throw new OutboundError("redirect", `More than ${redirectsMax} redirects`);
      }
      hop = next;
    }
  });
}

/** One request of a call; redirects make more of them. */
interface Hop {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

interface Answer {
  head: Head;
  body: Uint8Array<ArrayBuffer>;
}

function parsedUrl(text: string): URL {
  const url = parseOutboundUrl(text);
  if (typeof url === "string") throw new OutboundError("blocked", `The address is ${url}`);
  return url;
}

async function exchange(
  deps: OutboundDeps,
  { reach, bodyMax, bodyOver }: OutboundRequest,
  hop: Hop,
  limit: Limit,
): Promise<Answer> {
  const bytes = encodeRequest(hop);
  const { url } = hop;
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  const plain = await connect(deps, { host: url.hostname, port, reach }, limit);
  const conn = isTls ? await secured(plain, url, limit) : plain;
  try {
    await send(conn, bytes, limit);
    const reader = new ByteReader(conn);
    const head = await readHead(reader);
    const body = new Body(reader, framing(hop.method, head.status, head.headers));
    return { head, body: await readBody(body, bodyMax, bodyOver ?? "fail") };
  } catch (cause) {
    throw asOutboundError(cause, url, limit);
  } finally {
    close(limit);
  }
}

/**
 * @throws {TypeError} For a method or header that would break out of its line or change what the
 * message is.
 */
function encodeRequest({ url, method, headers, body }: Hop): Uint8Array {
  if (!METHOD.test(method)) throw new TypeError(`Not a method: ${method}`);
  const all = new Map<string, string>([
    ["user-agent", `Longshore/${VERSION}`],
    ["accept", "*/*"],
  ]);
  for (const [name, value] of Object.entries(headers)) {
    const problem = outboundHeaderProblem(name, value);
    if (problem) throw new TypeError(`Header ${JSON.stringify(name)}: ${problem}`);
    all.set(name.toLowerCase(), value);
  }
  // What is not asked for needs no limit on what it unpacks to.
  all.set("accept-encoding", "identity");
  if (body || !["GET", "HEAD"].includes(method)) {
    all.set("content-length", String(body?.length ?? 0));
  }
  const lines = [...all].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = encoder.encode(
    `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${lines}` +
      "connection: close\r\n\r\n",
  );
  if (!body) return head;
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

async function send(conn: Deno.Conn, bytes: Uint8Array, limit: Limit): Promise<void> {
  try {
    for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
  } catch {
    // Whoever has heard enough may answer and close; the answer is then still there to be read.
    limit.signal.throwIfAborted();
  }
}

async function readHead(reader: ByteReader): Promise<Head> {
  for (let interim = 0; interim <= INTERIM_MAX; interim++) {
    const head = parsedHead(await reader.head());
    if (head.status >= 200) return head;
  }
  throw new EngineProtocolError("interim answers without end");
}

async function readBody(
  body: Body,
  max: number,
  over: "fail" | "cut",
): Promise<Uint8Array<ArrayBuffer>> {
  // Who wants nothing of it does not wait for it either.
  if (max === 0 && over === "cut") return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (await body.hasMore()) {
    if (over === "fail" && length + body.expected > max) throw tooLarge(max);
    const piece = await body.some();
    if (!piece) break;
    const room = max - length;
    if (piece.length > room && over === "fail") throw tooLarge(max);
    pieces.push(piece.slice(0, room));
    length += pieces.at(-1)!.length;
    if (piece.length >= room && over === "cut") break;
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const tooLarge = (max: number) =>
  new OutboundError("too_large", `The answer is larger than the ${max} bytes allowed`);

/** What the other side sent is not repeated: it may be an internal service's. */
function asOutboundError(cause: unknown, url: URL, { signal }: Limit): unknown {
  if (cause instanceof OutboundError) return cause;
  if (signal.aborted) return signal.reason;
  if (cause instanceof EngineProtocolError) {
    return /more than \d+ bytes|\d+ headers/.test(cause.message)
      ? new OutboundError("too_large", `${url.host} sent a head that is too large`, { cause })
      : new OutboundError("network", `${url.host} did not answer with HTTP`, { cause });
  }
  return new OutboundError("network", `The connection to ${url.host} ended without an answer`, {
    cause,
  });
}

/**
 * The next hop, where the answer is a redirect (RFC 9110, 15.4; methods as in browsers).
 *
 * @throws {OutboundError} `redirect` for an unusable address, and where a body would have to be
 * repeated to another origin: it may hold credentials, and without it the request means another.
 */
function redirected(hop: Hop, { head }: Answer): Hop | undefined {
  const location = head.headers.get("location");
  if (!REDIRECTS.has(head.status) || location === undefined) return undefined;
  const target = URL.parse(location, hop.url);
  const url = target && parseOutboundUrl(target.href);
  // Raw, for the parser has already forgiven what must not be forgiven.
  // deno-lint-ignore no-control-regex
  if (!url || typeof url === "string" || /[\x00-\x20\x7f\\]/.test(location)) {
    throw new OutboundError("redirect", `${hop.url.host} redirects to what is no usable address`);
  }
  const becomesGet = head.status === 303 && hop.method !== "HEAD" ||
    head.status < 303 && hop.method === "POST";
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

function response({ head, body }: Answer, { url }: Hop, startMs: number): OutboundResponse {
  const text = () => decoder.decode(body);
  return {
    status: head.status,
    headers: Object.fromEntries(head.headers),
    body,
    text,
    json: <T>() => JSON.parse(text()) as T,
    durationMs: Math.round(performance.now() - startMs),
    url: url.href,
  };
}
