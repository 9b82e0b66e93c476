/**
 * Probes the target of a monitor with an HTTP request, a TCP connection or a DNS lookup.
 *
 * @module
 */

import type { StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import { withTimeLimit } from "../../deadline.ts";
import { checkOutboundPort } from "../../outbound/connection.ts";
import { OutboundError, timeoutError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { hasAnswer, lookUp, type NameServer, type RecordType } from "./dns_lookup.ts";
import { isExpectedStatus } from "./expected_status.ts";
import type { MonitorRequest } from "./request.ts";

/** Redirects followed. */
const REDIRECTS_MAX = 5;

/** Part of a response that is searched for the keyword, in bytes. */
const KEYWORD_RANGE = 1024 * 1024;

/** The result of a probe. */
export interface ProbeResult {
  ok: boolean;
  /** Whole milliseconds; `null` without a response. */
  responseTimeMs: number | null;
  statusCode: number | null;
  /** Contains no text of the target; `null` if `ok`. */
  error: string | null;
}

/** A monitor's target with its secrets decrypted. */
export type ProbeTarget =
  & Pick<
    StoredMonitor,
    | "type"
    | "url"
    | "method"
    | "expectedStatus"
    | "keyword"
    | "recordType"
    | "expected"
    | "timeoutMs"
  >
  & MonitorRequest;

/** Tests set `nameServer`. */
export type ProbeDeps = OutboundDeps & { nameServer?: NameServer };

/**
 * Probes a target once. Failures of the target are returned, not thrown.
 *
 * @throws The signal's reason; any other error is a bug.
 */
export async function probe(
  deps: ProbeDeps,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    if (target.type === "http") return await probeHttp(deps, target, signal);
    if (target.type === "tcp") return await probeTcp(deps, target, signal);
    return await probeDns(deps, target, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OutboundError) return failed(error.message);
    throw error;
  }
}

/** Parses the `url` of a TCP monitor; `undefined` if it is not `host:port`. */
export function parseHostPort(text: string): { host: string; port: number } | undefined {
  const [, host, digits] = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]{1,253}):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

async function probeHttp(
  deps: ProbeDeps,
  { url, method, expectedStatus, keyword, headers, body, timeoutMs }: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const response = await outboundRequest(deps, {
    url,
    reach: "internal",
    method: method ?? "GET",
    headers,
    ...(body !== null && { body }),
    timeoutMs,
    bodyMax: keyword === null ? 0 : KEYWORD_RANGE,
    bodyOver: "cut",
    redirectsMax: REDIRECTS_MAX,
    signal,
  });
  const expected = expectedStatus ?? "200";
  const error = !isExpectedStatus(expected, response.status)
    ? `The status is ${response.status}, not ${expected}`
    : keyword !== null && !response.text().includes(keyword)
    ? "The keyword is not in the response"
    : null;
  return {
    ok: error === null,
    responseTimeMs: response.durationMs,
    statusCode: response.status,
    error,
  };
}

async function probeTcp(
  deps: ProbeDeps,
  { url, timeoutMs }: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const address = parseHostPort(url);
  if (!address) return failed("The address is not host:port");
  const startMs = performance.now();
  await checkOutboundPort(deps, { ...address, reach: "internal", timeoutMs, signal });
  return succeeded(startMs);
}

async function probeDns(
  { nameServer }: ProbeDeps,
  { url, recordType, expected, timeoutMs }: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const type = recordType as RecordType;
  const startMs = performance.now();
  const answers = await withTimeLimit(
    { timeoutMs, signal, timeoutError },
    (limit) => lookUp(url, type, { nameServer, signal: limit }),
  ).catch((error) => {
    signal.throwIfAborted();
    if (error instanceof OutboundError) throw error;
    throw new OutboundError("network", `DNS lookup for ${url} failed`, { cause: error });
  });
  const result = succeeded(startMs);
  const error = answers.length === 0
    ? `${url} has no ${type} record`
    : expected !== null && !hasAnswer(type, answers, expected)
    ? `No ${type} record of ${url} has the expected value`
    : null;
  return { ...result, ok: error === null, error };
}

const failed = (error: string): ProbeResult => ({
  ok: false,
  responseTimeMs: null,
  statusCode: null,
  error,
});

const succeeded = (startMs: number): ProbeResult => ({
  ok: true,
  responseTimeMs: Math.round(performance.now() - startMs),
  statusCode: null,
  error: null,
});
