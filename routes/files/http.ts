/** Headers of requests for files (RFC 9110, sections 13 and 14). @module */

import type { Condition } from "../../services/backup/volumes/content.ts";
import type { Download, Range } from "../../services/files/download.ts";
import { attachment } from "../contract/attachment.ts";

/** @returns `undefined` for none, several and malformed ranges, which are ignored. */
export function rangeOf(headers: Headers): Range | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("range")?.trim() ?? "");
  if (!found) return undefined;
  const [, first, last] = found;
  if (first !== "") {
    const range = { from: Number(first), to: last === "" ? undefined : Number(last) };
    return range.to === undefined || range.from <= range.to ? range : undefined;
  }
  return last === "" || Number(last) === 0 ? undefined : { from: -Number(last) };
}

/**
 * The condition of a write. ETags of anything but the content of a file match none.
 *
 * @returns `undefined` without one.
 */
export function conditionOf(headers: Headers): Condition | undefined {
  const match = headers.get("if-match")?.trim();
  if (match === "*") return { content: "exists" };
  if (match !== undefined) {
    return {
      content: Array.from(match.matchAll(/(?:^|[\s,])"([0-9a-f]{64})"/g), ([, hash]) => hash!),
    };
  }
  return headers.get("if-none-match")?.trim() === "*" ? { content: "missing" } : undefined;
}

/** @param isRange Whether the request was for a range. */
export function downloadResponse(
  { name, size, start, length, etag, body }: Download,
  isRange: boolean,
): Response {
  const isPart = isRange && length < size;
  if (isRange && length === 0) {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${size}` } });
  }
  return new Response(body, {
    status: isPart ? 206 : 200,
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(length),
      "content-disposition": attachment(name),
      "accept-ranges": "bytes",
      ...(etag !== undefined && { etag }),
      ...(isPart && { "content-range": `bytes ${start}-${start + length - 1}/${size}` }),
    },
  });
}
