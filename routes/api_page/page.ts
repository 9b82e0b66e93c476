/**
 * The API page: three small files that are part of the program, so that it works without a
 * network. It reads `/openapi.json` and knows nothing of the endpoints itself.
 *
 * @module
 */

import page from "./page.html" with { type: "text" };
import script from "./client.js" with { type: "text" };
import style from "./page.css" with { type: "text" };
import { sendFile, type StaticFile, staticFile } from "../static_file.ts";

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

/** Parts are requested under their content's hash (`?v=`), so they never change: one year. */
const PART_CACHING = "public, max-age=31536000, immutable";

/** Created on the first request; most services never need the page. */
let files: Promise<Map<string, StaticFile>> | undefined;

/** Answers a request for one of `API_PAGE_PATHS`. */
export async function apiPage(
  path: typeof API_PAGE_PATHS[number],
  request: Request,
): Promise<Response> {
  files ??= prepareFiles();
  return sendFile((await files).get(path)!, request);
}

async function prepareFiles(): Promise<Map<string, StaticFile>> {
  const css = await part("text/css; charset=utf-8", style, PART_CACHING);
  const js = await part("text/javascript; charset=utf-8", script, PART_CACHING);
  const named = (path: string, { etag }: StaticFile) => `${path}?v=${etag.slice(1, -1)}`;
  const html = page
    .replace("{{style}}", named("/docs/page.css", css))
    .replace("{{script}}", named("/docs/page.js", js));
  return new Map([
    ["/docs", await part("text/html; charset=utf-8", html, "no-cache")],
    ["/docs/page.css", css],
    ["/docs/page.js", js],
  ]);
}

const part = (type: string, text: string, caching: string): Promise<StaticFile> =>
  staticFile(text, {
    "cache-control": caching,
    "content-security-policy": API_PAGE_CSP,
    "content-type": type,
  });
