/**
 * Large answers that many clients ask for: serialised once, compressed once, and not sent at all
 * to a client that has them.
 *
 * @module
 */

import { nodeCrypto, nodeZlib } from "../services/builtins.ts";
import { type Exchange, respond } from "./exchange.ts";

/** A serialised answer. */
interface KeptAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  /** Made when the first client asks for it. */
  gzip: Uint8Array<ArrayBuffer> | undefined;
  etag: string;
}

/** Most different queries whose answers are kept for one version. */
const KEPT_MAX = 64;

/** Below this many bytes compression costs more than it saves. */
const GZIP_BYTES_MIN = 1_024;

const encoder = new TextEncoder();

export const jsonHeaders = { "content-type": "application/json; charset=utf-8" };

/** Keeps the answers of one endpoint while its version stays the same. */
export function answerCache(currentVersion: (() => string | undefined) | undefined) {
  const kept = new Map<string, KeptAnswer>();
  let keptVersion: string | undefined;

  return {
    version: () => currentVersion?.(),

    find(request: Request): KeptAnswer | undefined {
      if (!currentVersion || kept.size === 0 || currentVersion() !== keptVersion) return undefined;
      return kept.get(targetOf(request));
    },

    /** @param version As it was before the answer was made; a later one would promise too much. */
    keep(request: Request, version: string | undefined, text: string): KeptAnswer {
      const bytes = encoder.encode(text);
      const answer = { bytes, gzip: undefined, etag: etagOf(bytes) };
      if (version !== undefined) {
        if (version !== keptVersion) kept.clear();
        keptVersion = version;
        if (kept.size < KEPT_MAX) kept.set(targetOf(request), answer);
      }
      return answer;
    },
  };
}

/** The answer, or 304 for a client that has it already. */
export function revalidated(exchange: Exchange, request: Request, answer: KeptAnswer): Response {
  const headers: Record<string, string> = {
    ...jsonHeaders,
    etag: answer.etag,
    vary: "accept-encoding",
  };
  if (request.headers.get("if-none-match")?.includes(answer.etag.slice(2))) {
    return respond(exchange, 304, null, headers);
  }
  if (answer.bytes.length < GZIP_BYTES_MIN || !acceptsGzip(request)) {
    return respond(exchange, 200, answer.bytes, headers);
  }
  answer.gzip ??= new Uint8Array(nodeZlib().gzipSync(answer.bytes, { level: 1 }));
  return respond(exchange, 200, answer.gzip, { ...headers, "content-encoding": "gzip" });
}

export function acceptsGzip(request: Request): boolean {
  return /(^|,)\s*gzip\s*(,|$|;\s*q=(1|0\.\d*[1-9]))/.test(
    request.headers.get("accept-encoding") ?? "",
  );
}

/** Weak, for the same answer is sent plain and compressed. */
export function etagOf(bytes: Uint8Array): string {
  return `W/"${nodeCrypto().createHash("sha1").update(bytes).digest("base64url")}"`;
}

function targetOf(request: Request): string {
  return request.url.slice(request.url.indexOf("/", "https://".length));
}
