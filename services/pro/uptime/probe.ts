/**
 * One check of a monitor: a real request, connection or lookup, and what is wrong with the answer.
 *
 * @module
 */

import type { StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import { withTimeLimit } from "../../deadline.ts";
import { checkOutboundPort } from "../../outbound/connection.ts";
import { OutboundError, timeoutError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { isAmong, lookUp, type NameServer, type RecordType } from "./dns_lookup.ts";
import { isExpectedStatus } from "./expected_status.ts";
import type { MonitorRequest } from "./request.ts";

/** Most redirects that are followed. */
const REDIRECTS_MAX = 5;

/** How much of an answer is searched for the keyword, in bytes. */
export const KEYWORD_WITHIN = 1024 * 1024;

/** What a check came to. */
export interface ProbeResult {
  ok: boolean;
  /** Whole milliseconds; `null` where no answer came. */
  responseTimeMs: number | null;
  statusCode: number | null;
  /** A sentence without foreign text; `null` for a good one. */
  error: string | null;
}

/** What is probed, with its secrets opened. */
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

/** `nameServer` is for tests. */
export type ProbeDeps = OutboundDeps & { nameServer?: NameServer };

/**
 * Checks once. What is wrong with the target stands in `error`.
 *
 * @throws The signal's reason; everything else that is thrown is a fault of the service.
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

/** Host and port of a TCP monitor's `url`; `undefined` for what is none. */
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
  const answer = await outboundRequest(deps, {
    url,
    reach: "internal",
    method: method ?? "GET",
    headers,
    ...(body !== null && { body }),
    timeoutMs,
    bodyMax: keyword === null ? 0 : KEYWORD_WITHIN,
    bodyOver: "cut",
    redirectsMax: REDIRECTS_MAX,
    signal,
  });
  const expected = expectedStatus ?? "200";
  const error = !isExpectedStatus(expected, answer.status)
    ? `The status is ${answer.status}, not ${expected}`
    : keyword !== null && !answer.text().includes(keyword)
    ? "The keyword is not in the answer"
    : null;
  return {
    ok: error === null,
    responseTimeMs: answer.durationMs,
    statusCode: answer.status,
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
  const found = await withTimeLimit(
    { timeoutMs, signal, timeoutError },
    (limit) => lookUp(url, type, { nameServer, signal: limit }),
  ).catch((error) => {
    signal.throwIfAborted();
    if (error instanceof OutboundError) throw error;
    throw new OutboundError("network", `The lookup of ${url} failed`, { cause: error });
  });
  const result = succeeded(startMs);
  const error = found.length === 0
    ? `${url} has no ${type} record`
    : expected !== null && !isAmong(type, found, expected)
    ? `None of the ${type} records of ${url} is the expected one`
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
