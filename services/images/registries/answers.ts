/** Meaning of the answers of registries and token servers: errors and rate limits. @module */

import type { Deps } from "../../deps.ts";
import type { OutboundResponse } from "../../outbound/http.ts";
import { retryAfterMs } from "../../outbound/retry_after.ts";
import { RegistryError } from "./error.ts";

type LimitDeps = Pick<Deps, "registrySessions" | "now">;

/** Pause of a registry that limits requests without naming a time, in milliseconds. */
const LIMIT_MS = 15 * 60_000;

/** Bounds for what a registry says, in milliseconds. */
const LIMIT_MIN_MS = 1_000;
const LIMIT_MAX_MS = 24 * 60 * 60_000;

/** The registry works, and does not know the method. */
const NOT_IMPLEMENTED = 501;

/** @throws {RegistryError} `rate_limited` while an earlier answer forbids requests. */
export function assertNotLimited({ registrySessions }: LimitDeps, host: string): void {
  const until = registrySessions.limits.get(host);
  if (until !== undefined) throw limited(host, until);
}

/**
 * Accepts 2xx.
 *
 * @throws {RegistryError} For other statuses. After 429, requests to the host are refused until the
 * time that `Retry-After` says.
 */
export function checkStatus(
  { registrySessions, now }: LimitDeps,
  host: string,
  { status, headers }: Pick<OutboundResponse, "status" | "headers">,
): void {
  if (status >= 200 && status < 300) return;
  if (status === 429) {
    const asked = retryAfterMs(headers["retry-after"], now()) ?? LIMIT_MS;
    const ms = Math.min(Math.max(asked, LIMIT_MIN_MS), LIMIT_MAX_MS);
    const until = now().getTime() + ms;
    registrySessions.limits.set(host, until, ms);
    throw limited(host, until);
  }
  if (status === 401 || status === 403) {
    throw new RegistryError(
      "unauthorized",
      `${host} refused access: check the credentials and the name of the repository`,
    );
  }
  if (status === 404) {
    throw new RegistryError("not_found", `${host} does not have the image`, { status });
  }
  throw new RegistryError(
    status >= 500 && status !== NOT_IMPLEMENTED ? "unreachable" : "invalid",
    `${host} answered with status ${status}`,
    { status },
  );
}

/** `RateLimit-Remaining: 76;w=21600` */
export function rateLimitRemaining(headers: OutboundResponse["headers"]): number | undefined {
  const [, remaining] = /^\s*(\d{1,9})\b/.exec(headers["ratelimit-remaining"] ?? "") ?? [];
  return remaining === undefined ? undefined : Number(remaining);
}

const limited = (host: string, until: number) =>
  new RegistryError(
    "rate_limited",
    `${host} accepts no requests until ${new Date(until).toISOString()}`,
    { until },
  );

/** @throws {RegistryError} `invalid` unless the answer is a JSON object. */
export function parseContent(
  response: OutboundResponse,
  registry: string,
): Record<string, unknown> {
  try {
    const content = response.json<unknown>();
    if (typeof content === "object" && content !== null) return content as Record<string, unknown>;
  } catch {
    // The parser's message would quote the answer.
  }
  throw invalidAnswer(registry, "JSON");
}

export const invalidAnswer = (registry: string, expected: string): RegistryError =>
  new RegistryError("invalid", `${registry} did not answer with ${expected}`);
