/** Headers that are passed on, and those that end at the hub. @module */

import { NOTE_HEADER } from "../notes/note.ts";

/**
 * Request headers that are not passed on: of the connection, of the caller's own credentials, and
 * about the client, which the member must not take for its own.
 */
const STRIPPED =
  /^(authorization|connection|content-length|cookie2?|expect|forwarded|host|keep-alive|longshore-.*|origin|proxy-.*|referer|sec-.*|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*|x-page-secret|x-real-ip|x-request-id|x-verify-secret)$/;

/** Values that can be sent. */
const SENDABLE = /^[\t\x20-\x7e]*$/;

/** Response headers that are passed on: a member must not set what a browser obeys. */
const PASSED =
  /^(accept-ranges|content-(disposition|encoding|language|length|range|type)|etag|last-modified|ratelimit(-.*)?|retry-after|vary|x-accel-buffering|x-total-count)$/;

/** Headers for the member, with the note and the id of the request. */
export function toMember(
  headers: Headers,
  { note, requestId }: { note: string; requestId: string },
): Record<string, string> {
  const named = (headers.get("connection") ?? "").toLowerCase().split(",").map((each) =>
    each.trim()
  );
  const passed = [...headers].filter(([name, value]) =>
    !STRIPPED.test(name) && !named.includes(name) && SENDABLE.test(value)
  );
  return { ...Object.fromEntries(passed), "x-request-id": requestId, [NOTE_HEADER]: note };
}

/**
 * Headers for the client. A `Location` leads through the hub, or is dropped.
 *
 * @param prefix Path of the host at the hub, before `/api/`.
 */
export function toClient(
  headers: ReadonlyMap<string, string>,
  prefix: string,
): Record<string, string> {
  const passed = [...headers].filter(([name, value]) => PASSED.test(name) && SENDABLE.test(value));
  const location = pathOfApi(headers.get("location"));
  return {
    ...Object.fromEntries(passed),
    ...(location !== undefined && { location: prefix + location }),
    // Of the hub's origin: nothing of it runs, whatever the type says.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  };
}

/** A path below `/api/` as a browser resolves it: one with `..` would lead out of the host's. */
function pathOfApi(location: string | undefined): string | undefined {
  if (!location?.startsWith("/api/")) return undefined;
  const url = URL.parse(location, "http://host");
  return url?.pathname.startsWith("/api/") ? url.pathname + url.search : undefined;
}
