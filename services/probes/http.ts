/**
 * HTTP probes of the endpoints in `ENDPOINTS`. The operator configures them, so any address is
 * allowed, including this host.
 *
 * @module
 */

import type { Config } from "../config/config.ts";
import type { Deps } from "../deps.ts";
import { redactedUrl } from "../outbound/url_secrets.ts";
import { VERSION } from "../version.ts";
import { capitalize, describeConnectionFailure } from "./connection_failure.ts";
import { createLimiter } from "../limiter.ts";
import { cacheResponse } from "./response_cache.ts";
import {
  CACHE_MS,
  type CertificateCheckOptions,
  checkCertificate,
  createTrustStore,
  PARALLEL,
  TIMEOUT_MS,
} from "./tls.ts";
import { withoutCredentials } from "../outbound/url_credentials.ts";

type ProbedEndpoint = Config["endpoints"][number];

/** The result of a probe. */
export interface EndpointCheck {
  name: string;
  /** Without user name and password; query values are redacted. */
  url: string;
  /** Whether the status is the expected one. */
  healthy: boolean;
  /** `null` without a response. */
  status: number | null;
  expectedStatus: number;
  /** Whole milliseconds from the start to the response headers; `null` without a response. */
  responseTime: number | null;
  /** A sentence; `null` if healthy. */
  error: string | null;
  /** ISO 8601, UTC. */
  checkedAt: string;
}

type ProbeOptions = Omit<CertificateCheckOptions, "signal">;

/** Limit of the response headers, in bytes. */
const HEADERS_MAX = 32 * 1024;

/** Probes all configured endpoints in their order; results are cached for 30 seconds. */
export function createEndpointProber(
  { config, now }: Pick<Deps, "config" | "now">,
  options: Omit<ProbeOptions, "now"> = {},
): () => Promise<EndpointCheck[]> {
  const trustStore = createTrustStore(options.ca);
  return cacheResponse(
    { maxAgeMs: CACHE_MS, now },
    () => probeEndpoints(config.endpoints, { ...options, now, trustStore }),
  );
}

/** Never fails; problems are reported in `error`. */
async function probeEndpoints(
  endpoints: readonly ProbedEndpoint[],
  options: ProbeOptions,
): Promise<EndpointCheck[]> {
  const limit = createLimiter({ what: "HTTP probes", running: PARALLEL, waiting: Infinity });
  return await Promise.all(
    endpoints.map((endpoint) => limit(() => probeEndpoint(endpoint, options))),
  );
}

/**
 * Sends a GET request on a new connection. Redirects are not followed, so that 301 can be the
 * expected status. The body is not read. Never fails; problems are reported in `error`.
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
    const status = await requestStatus(target, authorization, options);
    const error = status === expectedStatus
      ? null
      : `The status is ${status}, not ${expectedStatus}`;
    return result({ status, error });
  } catch (error) {
    const reason = await certificateError(target, error, start, options) ?? describeError(error);
    return result({ status: null, error: reason });
  }
}

/** No response was received; the message is a sentence. */
class NoResponseError extends Error {}

async function requestStatus(
  target: URL,
  authorization: string | undefined,
  { timeoutMs = TIMEOUT_MS, ca, lookup }: ProbeOptions,
): Promise<number> {
  const { request } = target.protocol === "https:"
    ? await import("node:https")
    : await import("node:http");

  return await new Promise<number>((resolve, reject) => {
    const probe = request(target, {
      agent: false, // a reused connection would hide that the server accepts no new ones
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
      probe.destroy();
    };
    const timer = setTimeout(() => {
      end(() => reject(new NoResponseError(`No response within ${timeoutMs / 1000} s`)));
    }, timeoutMs);

    probe.once("response", (response) => {
      response.on("error", () => {}); // the connection is closed before the body arrives
      end(() => resolve(response.statusCode ?? 0));
    });
    probe.once("upgrade", (response, socket) => {
      socket.destroy();
      end(() => resolve(response.statusCode ?? 0));
    });
    // Not `once`: the socket may still fail after the end, which is ignored.
    probe.on("error", (error) => end(() => reject(error)));
    probe.once("close", () => {
      end(() => reject(new NoResponseError("The server closed the connection without a response")));
    });
    probe.end();
  });
}

/** Codes of failed certificate verification. */
const CERTIFICATE_CODES = /CERT|VERIFY|ISSUER|SELF_SIGNED/;

/** All problems of a refused certificate; `undefined` for other errors. */
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
  const check = await checkCertificate({
    domain: target.hostname,
    port: Number(target.port || 443),
  }, { ...options, timeoutMs: Math.max(timeoutMs - (performance.now() - start), 1) });
  return check.fingerprint !== null && check.error !== null
    ? check.error
    : `The certificate is refused (${code})`;
}

function describeError(error: unknown): string {
  return error instanceof NoResponseError
    ? error.message
    : capitalize(describeConnectionFailure(error));
}
