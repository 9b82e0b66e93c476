/** Locations of targets: a directory of this host, a bucket, or a REST server. @module */

import { normalize } from "node:path";
import { parseOutboundUrl } from "../../outbound/url.ts";
import { trimEnd } from "../../text/trim_end.ts";

export type Location =
  | { kind: "directory"; path: string }
  | { kind: "s3"; endpoint: string; bucket: string; prefix: string }
  | { kind: "rest"; url: string };

/** Longest location, in characters. */
export const LOCATION_MAX = 1_000;

const FORMS = "must be an absolute path, s3:https://host/bucket/path or rest:https://host/path";

/** Names of buckets; older ones have capitals and underscores. */
const BUCKET = /^[A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9]$/;

/** Names that every server takes as they are, without an encoding that could be read in two ways. */
const SEGMENT = /^[\w.~@+-]{1,255}$/;
const SEGMENT_RULE = "may have letters, digits and . _ ~ @ + - between slashes";

/** @returns The location, or what is wrong with the text. */
export function parseLocation(text: string): Location | string {
  if (text.length > LOCATION_MAX) return `is longer than ${LOCATION_MAX} characters`;
  const [, kind, rest] = /^(s3|rest):(.*)$/s.exec(text) ?? [];
  if (kind !== undefined) return parseRemote(kind as "s3" | "rest", rest!);
  // deno-lint-ignore no-control-regex
  if (!text.startsWith("/") || /[\x00-\x1f\x7f]/.test(text)) return FORMS;
  const path = trimEnd(normalize(text), "/").replace(/^\/+/, "/");
  return path === "" ? "must not be the whole file system" : { kind: "directory", path };
}

function parseRemote(kind: "s3" | "rest", address: string): Location | string {
  const url = parseOutboundUrl(address);
  if (typeof url === "string") return `${url}; it ${FORMS}`;
  if (url.search !== "" || url.hash !== "") return "must not have a query or a fragment";
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  if (!segments.every((segment) => SEGMENT.test(segment))) return `the path ${SEGMENT_RULE}`;
  if (kind === "rest") return { kind, url: `${[url.origin, ...segments].join("/")}/` };
  const [bucket = "", ...prefix] = segments;
  if (!BUCKET.test(bucket)) return "must have the name of a bucket after the host";
  return { kind, endpoint: url.origin, bucket, prefix: prefix.join("/") };
}

/** The one spelling of a location, which {@linkcode parseLocation} reads. */
export function locationText(location: Location): string {
  switch (location.kind) {
    case "directory":
      return location.path;
    case "rest":
      return `rest:${trimEnd(location.url, "/")}`;
    case "s3": {
      const { endpoint, bucket, prefix } = location;
      return `s3:${trimEnd(`${endpoint}/${bucket}/${prefix}`, "/")}`;
    }
  }
}

/** Server that credentials are sent to; empty for a directory. */
export function originOf(location: Location): string {
  switch (location.kind) {
    case "directory":
      return "";
    case "rest":
      return new URL(location.url).origin;
    case "s3":
      return location.endpoint;
  }
}
