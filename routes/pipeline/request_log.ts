/**
 * One log line per request: every write and every failure, and with `LOG_LEVEL=debug` every read.
 *
 * @module
 */

import { createAnonymousQuota } from "../../services/access/anonymous_quota.ts";
import type { Deps } from "../../services/deps.ts";
import type { Exchange } from "./exchange.ts";
import { pathOf } from "./request_url.ts";

/** Logs a request with its response. */
type RequestLog = (
  request: Request,
  exchange: Exchange,
  status: number,
  ms: number,
) => void;

/**
 * Lines about requests without a valid token have a quota, so that clients without an account
 * cannot fill the disk. Later lines of a minute are counted in one summary.
 */
export function createRequestLog(
  { config, log, now }: Pick<Deps, "config" | "log" | "now">,
): RequestLog {
  const quota = createAnonymousQuota({ ofClient: 20, ofMinute: 600 });

  return (request, exchange, status, ms) => {
    // Successful reads are the bulk of all requests and the least interesting.
    const level = request.method === "GET" && status < 400 ? "debug" : "info";
    if (level === "debug" && config.logLevel !== "debug") return;
    const atMs = now().getTime();
    const omitted = quota.settle(atMs);
    if (omitted) {
      const { count, sinceMs, clients } = omitted;
      log.warn("requests not logged", { count, since: new Date(sinceMs).toISOString(), clients });
    }
    if (!exchange.isKnown && !quota.take(exchange.address, atMs)) return;
    log[level]("request", {
      requestId: exchange.requestId,
      method: request.method,
      path: loggedPath(request),
      status,
      ms: Math.round(ms * 10) / 10,
      address: exchange.address,
    });
  };
}

/** Long enough for a token, and not the id of a container. */
const LIKE_A_TOKEN = /(?<=\/)(?![0-9a-f]{64}(?:\/|$))[\w.~+=-]{40,}/g;

/**
 * The path without the query, which can contain a ticket or a private search, and with `:token` for
 * segments that look like one: links in mails contain tokens, and keys are pasted in wrong places.
 */
export const loggedPath = (request: Request): string =>
  pathOf(request).replace(LIKE_A_TOKEN, ":token").slice(0, 300);
