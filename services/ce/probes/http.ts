/**
 * The endpoints in `ENDPOINTS`, asked over HTTP. The operator names them, so they may be anywhere,
 * also on this host.
 *
 * @module
 */

import type { LookupFunction } from "node:net";
import type { Config } from "../../config/config.ts";
import type { Deps } from "../../deps.ts";
import { redactedUrl } from "../../outbound/url_secrets.ts";
import { VERSION } from "../../version.ts";
import { connectionFailure } from "./connection_failure.ts";
import { createLimiter } from "../../limiter.ts";
import { keepAnswer } from "./response_cache.ts";
import { checkCertificate } from "./tls.ts";
import { withoutCredentials } from "../../outbound/url_credentials.ts";

type ProbedEndpoint = Config["endpoints"][number];

/** What an endpoint answered, or why it did not. */
export interface EndpointCheck {
  name: string;
  /** Without user name and password; the values of its query are redacted. */
  url: string;
  /** Whether the status is the expected one. */
  healthy: boolean;
  /** Null where no answer came. */
  status: number | null;
  expectedStatus: number;
  /** Whole milliseconds from the start to the answer's headers; null where no answer came. */
  responseTime: number | null;
  /** A sentence; null for a healthy one. */
  error: string | null;
  /** When it was asked; ISO 8601, UTC. */
  checkedAt: string;
}

export interface ProbeOptions {
  now: () => Date;
  /** For the whole request; default {@linkcode TIMEOUT_MS}. */
  timeoutMs?: number;
  /** Authorities (PEM) that are trusted instead of the runtime's. */
  ca?: string[];
  /** Resolves names instead of the system. */
  lookup?: LookupFunction;
}

/** How long a list is given again, in milliseconds. */
const KEPT_MS = 30_000;

/** Time for one endpoint, from the resolution of the name to the headers, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** How many endpoints are asked at the same time. */
const PARALLEL = 10;

/** A server that sends more is no healthy one, in bytes. */
const HEADERS_MAX = 32 * 1024;

/** The state of all configured endpoints, at most 30 seconds old, in their order. */
export function createEndpointProber(
  { config, now }: Pick<Deps, "config" | "now">,
  options: Omit<ProbeOptions, "now"> = {},
): () => Promise<EndpointCheck[]> {
  return keepAnswer(
    { keptMs: KEPT_MS, now },
    () => probeEndpoints(config.endpoints, { ...options, now }),
  );
}

/** Asks all, ten at a time. Never fails; what is wrong stands in each `error`. */
async function probeEndpoints(
  endpoints: readonly ProbedEndpoint[],
  options: ProbeOptions,
): Promise<EndpointCheck[]> {
  if (endpoints.length === 0) return [];
  const gate = createLimiter({ what: "HTTP probes", running: PARALLEL, waiting: Infinity });
  return await Promise.all(
    endpoints.map((endpoint) => gate(() => probeEndpoint(endpoint, options))),
  );
}

/**
 * Asks one endpoint with GET on a connection of its own. Redirects are not followed, so that 301
 * can be what is expected. The body is not read: the headers tell the status, and the connection
 * ends with them. Never fails; what is wrong stands in `error`.
 */
export async function probeEndpoint(
  { name, url, expectedStatus }: ProbedEndpoint,
  options: ProbeOptions,
): Promise<EndpointCheck> {
  const { target, authorization } = withoutCredentials(url);
  const checkedAt = options.now().toISOString();
  const start = performance.now();
  const result = (outcome: Pick<EndpointCheck, "status" | "error">): EndpointCheck => ({
    name,
    url: redactedUrl(target.href),
    healthy: outcome.error === null,
    ...outcome,
    expectedStatus,
    responseTime: outcome.status === null ? null : Math.round(performance.now() - start),
    checkedAt,
  });

  try {
    const status = await statusOf(target, authorization, options);
    const wrong = status !== expectedStatus;
    return result({
      status,
      error: wrong ? `The status is ${status}, not ${expectedStatus}` : null,
    });
  } catch (error) {
    const reason = await certificateError(target, error, start, options) ?? reasonOf(error);
    return result({ status: null, error: reason });
  }
}

/** An answer that did not come; the message is a sentence. */
class NoAnswerError extends Error {}

async function statusOf(
  target: URL,
  authorization: string | undefined,
  { timeoutMs = TIMEOUT_MS, ca, lookup }: ProbeOptions,
): Promise<number> {
  const { request } = target.protocol === "https:"
    ? await import("node:https")
    : await import("node:http");

  return await new Promise<number>((resolve, reject) => {
    const asked = request(target, {
      agent: false, // a connection that is kept open would hide that no new one can be made
      maxHeaderSize: HEADERS_MAX,
      headers: {
        accept: "*/*",
        "user-agent": `longshore/${VERSION}`,
        ...(authorization !== undefined && { authorization }),
      },
      ...(ca && { ca }),
      ...(lookup && { lookup }),
    });
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
      asked.destroy();
    };
    const timer = setTimeout(() => {
      end(() => reject(new NoAnswerError(`No answer within ${timeoutMs / 1000} s`)));
    }, timeoutMs);

    asked.once("response", (response) => {
      response.on("error", () => {}); // the connection is ended before the body
      end(() => resolve(response.statusCode ?? 0));
    });
    asked.once("upgrade", (response, socket) => {
      socket.destroy();
      end(() => resolve(response.statusCode ?? 0));
    });
    // Stays after the end, for a late failure of the socket is nobody's business.
    asked.on("error", (error) => end(() => reject(error)));
    asked.once("close", () => {
      end(() => reject(new NoAnswerError("The server closed the connection without an answer")));
    });
    asked.end();
  });
}

/** Errors of verification; the runtime names only the first fault, and not always the right one. */
const CERTIFICATE_CODES = /CERT|VERIFY|ISSUER|SELF_SIGNED/;

/** For a refused certificate everything that is wrong with it; else `undefined`. */
async function certificateError(
  target: URL,
  error: unknown,
  start: number,
  options: ProbeOptions,
): Promise<string | undefined> {
  const code = (error as { code?: unknown })?.code;
  if (target.protocol !== "https:" || typeof code !== "string" || !CERTIFICATE_CODES.test(code)) {
    return undefined;
  }
  const { timeoutMs = TIMEOUT_MS } = options;
  const seen = await checkCertificate({
    domain: target.hostname,
    port: Number(target.port || 443),
  }, { ...options, timeoutMs: Math.max(timeoutMs - (performance.now() - start), 1) });
  const wasSeen = seen.fingerprint !== null && seen.error !== null;
  return wasSeen ? seen.error! : `The certificate is refused (${code})`;
}

function reasonOf(error: unknown): string {
  if (error instanceof NoAnswerError) return error.message;
  const reason = connectionFailure(error);
  return reason.charAt(0).toUpperCase() + reason.slice(1);
}
