/**
 * Texts that do not change while the service runs: compressed once, and not sent to a client that
 * has them.
 *
 * @module
 */

import { acceptsGzip } from "./answer_cache.ts";

/** A text as it is sent. */
export interface StaticFile {
  text: string;
  gzip: Uint8Array<ArrayBuffer>;
  /** Quoted, as in `ETag`. */
  etag: string;
  headers: Record<string, string>;
}

/** @param headers `content-type`, `cache-control` and further ones. */
export async function staticFile(
  text: string,
  headers: Record<string, string>,
): Promise<StaticFile> {
  const bytes = new TextEncoder().encode(text);
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 16);
  return {
    text,
    gzip: new Uint8Array(await new Response(compressed).arrayBuffer()),
    etag: `"${hash}"`,
    headers,
  };
}

/** The file, compressed if the client accepts that; 304 if the client has it. */
export function sendFile(file: StaticFile, request: Request): Response {
  const headers = { ...file.headers, etag: file.etag, vary: "accept-encoding" };
  if (isKnown(request.headers.get("if-none-match"), file.etag)) {
    return new Response(null, { status: 304, headers });
  }
  return acceptsGzip(request)
    ? new Response(file.gzip, { headers: { ...headers, "content-encoding": "gzip" } })
    : new Response(file.text, { headers });
}

/** `If-None-Match`: `*` or a list of tags, weak or not (RFC 9110, section 13.1.2). */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  return ifNoneMatch !== null &&
    ifNoneMatch.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}
