/**
 * Response bodies that are sent more than once: compressed once, and not sent to a client that has
 * them.
 *
 * @module
 */

import { nodeCrypto, nodeZlib } from "../../services/builtins.ts";
import { acceptsEncoding } from "./accept.ts";
import type { RawResponse } from "../contract/endpoint.ts";

/** A response body with its headers. */
export interface Representation {
  /** Further headers than `ETag`, `Vary` and `Content-Encoding`. */
  headers: Record<string, string>;
  bytes: Uint8Array<ArrayBuffer>;
  /** Compresses the body on the first call. */
  gzip(): Uint8Array<ArrayBuffer>;
  /** Quoted, as in `ETag`. */
  etag?: string;
}

/** Below this many bytes compression costs more than it saves. */
const GZIP_BYTES_MIN = 1_024;

/** Up to this many bytes the best compression takes less than a millisecond. */
const SMALL_BYTES = 16_384;

const encoder = new TextEncoder();

/** @param level The gzip level; default: 9 for small bodies, 1 for others, which change often. */
export function createRepresentation(
  text: string,
  headers: Record<string, string>,
  level?: number,
): Required<Representation> {
  const bytes = encoder.encode(text);
  let compressed: Uint8Array<ArrayBuffer> | undefined;
  return {
    headers,
    bytes,
    gzip: () =>
      compressed ??= new Uint8Array(
        nodeZlib().gzipSync(bytes, { level: level ?? (bytes.length <= SMALL_BYTES ? 9 : 1) }),
      ),
    // Weak, because the plain and the compressed body share it.
    etag: `W/"${nodeCrypto().createHash("sha1").update(bytes).digest("base64url")}"`,
  };
}

/** The response, compressed if the client accepts that; 304 if the client has it. */
export function sendRepresentation(
  { headers, bytes, gzip, etag }: Representation,
  request: Request,
): RawResponse {
  const all = { ...headers, ...(etag !== undefined && { etag }), vary: "accept-encoding" };
  if (etag !== undefined && matches(request.headers.get("if-none-match"), etag)) {
    return { status: 304, headers: all, body: null };
  }
  return bytes.length < GZIP_BYTES_MIN || !acceptsEncoding(request, "gzip")
    ? { status: 200, headers: all, body: bytes }
    : { status: 200, headers: { ...all, "content-encoding": "gzip" }, body: gzip() };
}

/** `If-None-Match` is `*` or a list of tags, compared without `W/` (RFC 9110, section 13.1.2). */
function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag.replace(/^W\//, ""));
}
