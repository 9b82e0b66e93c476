/** Headers of outbound requests: those that a user may set, and those that are sent. @module */

import { VERSION } from "../version.ts";

/** Headers that `http.ts` sets itself, or that change how the message is framed. */
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

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Maximum length of a header's value that a user gives. */
const USER_VALUE_MAX = 4_096;

/** Maximum length of a value that is sent: tokens of registries have several kilobytes. */
export const SENT_VALUE_MAX = 16_384;

const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

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

/** @throws {TypeError} For a header that a user may not set. */
export function requestHeaders(
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
