/** Requests to targets: repeated within one time limit, with failures that say what to do. @module */

import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import { OutboundError } from "../../outbound/error.ts";
import { outboundRequest, type OutboundResponse } from "../../outbound/http.ts";
import { retryAfterMs } from "../../outbound/retry_after.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { type ByteRange, StorageError } from "../restic/storage.ts";

/** Limits of a request to a target, which tests make smaller. */
export interface RequestLimits {
  /** For a request with all of its repeats, in milliseconds. */
  totalMs: number;
  /** Pause before the first repeat, which doubles with each, in milliseconds. */
  pauseMs: number;
}

export type StorageDeps =
  & OutboundDeps
  & Pick<Deps, "now">
  & { requestLimits?: RequestLimits };

export interface TargetRequest {
  url: URL;
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
  /** Limit of the answer's body in bytes. */
  bodyMax: number;
  /** PEM: trusted besides the public authorities. */
  caCertificate: string | null;
}

const LIMITS: RequestLimits = { totalMs: 40_000, pauseMs: 500 };

const ATTEMPTS_MAX = 6;

/**
 * Time for one attempt that transfers little, in milliseconds: a server that hangs is asked again.
 * A transfer of many bytes may take all of the time.
 */
const SMALL_ATTEMPT_MS = 15_000;
const SMALL_BYTES_MAX = 1024 * 1024;

/** Largest file of a repository, in bytes: restic's largest packs have 128 MiB. */
export const FILE_MAX = 160 * 1024 * 1024;

/** Answers that do not matter, in bytes. */
export const SHORT_ANSWER_MAX = 64 * 1024;

/** Timeouts, too many requests, and failures of a server or of a proxy in front of it. */
const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

/** Failures that pass: names are resolved, connections made and answers sent at the next attempt. */
const PASSING_CODES = new Set(["network", "timeout", "unresolvable"]);

/**
 * Sends a request, again after a failure that may pass. Redirects are not followed, so that
 * credentials go to the host of the location only.
 *
 * @returns The answer, whatever its status.
 * @throws {StorageError} `unreachable` without an answer; `failed` for one that is too large.
 */
export async function requestTarget(
  deps: StorageDeps,
  request: TargetRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { totalMs, pauseMs } = deps.requestLimits ?? LIMITS;
  const endMs = performance.now() + totalMs;
  for (let attempt = 1;; attempt++) {
    const outcome = await attemptRequest(deps, request, endMs - performance.now(), signal);
    const waitMs = Math.max(pauseMs * 2 ** (attempt - 1), delayOf(outcome, deps.now()));
    const isLast = attempt === ATTEMPTS_MAX || performance.now() + waitMs >= endMs;
    if (!isPassing(outcome) || isLast) {
      if (outcome instanceof OutboundError) throw toStorageError(outcome, request.url);
      return outcome;
    }
    await sleep(waitMs, signal);
    signal.throwIfAborted();
  }
}

async function attemptRequest(
  deps: StorageDeps,
  { caCertificate, body, ...request }: TargetRequest,
  leftMs: number,
  signal: AbortSignal,
): Promise<OutboundResponse | OutboundError> {
  const bytes = Math.max(body?.length ?? 0, request.bodyMax);
  const timeoutMs = bytes > SMALL_BYTES_MAX ? leftMs : Math.min(leftMs, SMALL_ATTEMPT_MS);
  try {
    return await outboundRequest(deps, {
      ...request,
      ...(body && { body }),
      url: request.url.href,
      reach: "internal",
      timeoutMs: Math.ceil(timeoutMs),
      caCertificates: caCertificate ?? undefined,
      signal,
    });
  } catch (error) {
    if (error instanceof OutboundError) return error;
    throw error;
  }
}

function isPassing(outcome: OutboundResponse | OutboundError): boolean {
  return outcome instanceof OutboundError
    ? PASSING_CODES.has(outcome.code)
    : PASSING_STATUSES.has(outcome.status);
}

function delayOf(outcome: OutboundResponse | OutboundError, now: Date): number {
  return outcome instanceof OutboundError
    ? 0
    : retryAfterMs(outcome.headers["retry-after"], now) ?? 0;
}

function toStorageError(error: OutboundError, { host }: URL): StorageError {
  const failure = (reason: "failed" | "unreachable", problem: string) =>
    new StorageError(reason, problem, { cause: error });
  switch (error.code) {
    case "too_large":
      return failure(
        "failed",
        `${host} sent more than was requested; it must support ranges, and lists of at most ` +
          "64 MiB",
      );
    case "tls":
      return failure("unreachable", `${error.message}; correct it, or set caCertificate`);
    case "timeout":
      return failure("unreachable", `${host} did not answer in time; check that it works`);
    case "network":
      return failure("unreachable", `${error.message}; check the location, and that it works`);
    default:
      return failure("unreachable", error.message);
  }
}

/** Fields of a request that reads a file or a part of it. */
type Reading = { method: "GET"; headers: Record<string, string>; bodyMax: number };

/**
 * Reads a file, or a part of it.
 *
 * @param ask Sends the request; a missing file is its failure.
 * @throws {StorageError} `damaged` if the answer does not have all bytes.
 */
export async function readRange(
  range: ByteRange | undefined,
  host: string,
  ask: (reading: Reading) => Promise<OutboundResponse>,
): Promise<Uint8Array> {
  if (range?.length === 0) return new Uint8Array();
  const answer = await ask({
    method: "GET",
    headers: range ? { range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : {},
    bodyMax: range?.length ?? FILE_MAX,
  });
  return readBytes(answer, range, host);
}

function readBytes(
  { status, headers, body }: OutboundResponse,
  range: ByteRange | undefined,
  host: string,
): Uint8Array {
  if (!range) return body;
  // A server that ignores ranges sends a small file as a whole.
  const start = status === 206 ? /^bytes (\d+)-/.exec(headers["content-range"] ?? "")?.[1] : "0";
  const offset = range.offset - Number(start ?? NaN);
  const part = offset >= 0 ? body.subarray(offset, offset + range.length) : new Uint8Array();
  if (part.length === range.length) return part;
  throw new StorageError("damaged", `${host} sent other bytes of a file than were requested`);
}

/** Size of a file by the answer to HEAD, in bytes. */
export function sizeOf({ headers }: OutboundResponse, host: string): number {
  const length = headers["content-length"] ?? "";
  if (/^\d{1,15}$/.test(length)) return Number(length);
  throw new StorageError("failed", `${host} does not say how large a file is`);
}

/** Message for a status that says nothing else. */
export function describeStatus({ status }: OutboundResponse, host: string): StorageError {
  if (PASSING_STATUSES.has(status)) {
    const message = `${host} answered with status ${status} several times; check its log`;
    return new StorageError("unreachable", message);
  }
  if (status === 507 || status === 413) {
    return new StorageError("full", `${host} has no room left; free some, or raise its quota`);
  }
  if (status >= 300 && status < 400) {
    const message = `${host} redirects elsewhere, which is not followed; enter the final address`;
    return new StorageError("failed", message);
  }
  const message = `${host} answered with status ${status}; check the location`;
  return new StorageError("failed", message);
}
