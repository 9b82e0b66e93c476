/**
 * The API page: three files that are part of the program, so that it works without internet access.
 * It renders `/openapi.json`.
 *
 * @module
 */

import page from "./page.html" with { type: "text" };
import script from "./client.js" with { type: "text" };
import style from "./page.css" with { type: "text" };
import { createRepresentation, type Representation } from "../pipeline/representation.ts";

/** Only scripts, styles and requests of the service itself; nothing inline or evaluated. */
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

/** Files are requested by the hash of their content (`?v=`), so they can be cached for a year. */
const PART_CACHING = "public, max-age=31536000, immutable";

/** The best compression, because each file is compressed once. */
const GZIP_LEVEL = 9;

/** The files of the page by the path where each is served. */
export function createApiPage(): Map<string, Representation> {
  const css = file("text/css; charset=utf-8", style, PART_CACHING);
  const js = file("text/javascript; charset=utf-8", script, PART_CACHING);
  const versioned = (path: string, { etag }: { etag: string }) =>
    `${path}?v=${etag.replace(/^W\/|"/g, "")}`;
  const html = page
    .replace("{{style}}", versioned("/docs/page.css", css))
    .replace("{{script}}", versioned("/docs/page.js", js));
  return new Map([
    ["/docs", file("text/html; charset=utf-8", html, "no-cache")],
    ["/docs/page.css", css],
    ["/docs/page.js", js],
  ]);
}

const file = (type: string, text: string, caching: string) =>
  createRepresentation(text, {
    "cache-control": caching,
    "content-security-policy": API_PAGE_CSP,
    "content-type": type,
  }, GZIP_LEVEL);
