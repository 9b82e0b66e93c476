/**
 * The API page: three small files that are part of the program, so that it works without a
 * network. It reads `/openapi.json` and knows nothing of the endpoints itself.
 *
 * @module
 */

import page from "./api_page.html" with { type: "text" };
import script from "./api_page_client.js" with { type: "text" };
import style from "./api_page.css" with { type: "text" };

/** Where the page and its parts are served. */
export const API_PAGE_PATHS = ["/docs", "/docs/page.css", "/docs/page.js"] as const;

/** Scripts, styles and calls only from the service itself; nothing inline, nothing evaluated. */
const API_PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Parts are asked for under their content's name (`?v=`), thus they never change: a year. */
const PART_CACHING = "public, max-age=31536000, immutable";

interface File {
  type: string;
  text: string;
  gzip: Uint8Array<ArrayBuffer>;
  /** Quoted, as `ETag` has it. */
  etag: string;
  caching: string;
}

/** Made when the page is first asked for; most services never are. */
let files: Promise<Map<string, File>> | undefined;

/**
 * Answers a request for one of `API_PAGE_PATHS`, compressed where the client takes it, with 304
 * where the client has it already.
 */
export async function apiPage(
  path: typeof API_PAGE_PATHS[number],
  request: Request,
): Promise<Response> {
  files ??= prepareFiles();
  const { type, text, gzip, etag, caching } = (await files).get(path)!;
  const headers = {
    "cache-control": caching,
    "content-security-policy": API_PAGE_CSP,
    "content-type": type,
    etag,
    vary: "accept-encoding",
  };
  if (knows(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  return takesGzip(request.headers.get("accept-encoding"))
    ? new Response(gzip, { headers: { ...headers, "content-encoding": "gzip" } })
    : new Response(text, { headers });
}

async function prepareFiles(): Promise<Map<string, File>> {
  const css = await file("text/css; charset=utf-8", style, PART_CACHING);
  const js = await file("text/javascript; charset=utf-8", script, PART_CACHING);
  const named = (path: string, { etag }: File) => `${path}?v=${etag.slice(1, -1)}`;
  const html = page
    .replace("{{style}}", named("/docs/page.css", css))
    .replace("{{script}}", named("/docs/page.js", js));
  return new Map([
    ["/docs", await file("text/html; charset=utf-8", html, "no-cache")],
    ["/docs/page.css", css],
    ["/docs/page.js", js],
  ]);
}

async function file(type: string, text: string, caching: string): Promise<File> {
  const bytes = new TextEncoder().encode(text);
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 16);
  return {
    type,
    text,
    gzip: new Uint8Array(await new Response(compressed).arrayBuffer()),
    etag: `"${hash}"`,
    caching,
  };
}

/** `If-None-Match`: `*` or a list of tags, weak or not (RFC 9110, section 13.1.2). */
function knows(ifNoneMatch: string | null, etag: string): boolean {
  return ifNoneMatch !== null &&
    ifNoneMatch.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}

/** `Accept-Encoding` names gzip, and not with a weight of 0. */
function takesGzip(acceptEncoding: string | null): boolean {
  return /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(acceptEncoding ?? "");
}
