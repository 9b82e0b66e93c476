/** Meaning of a response or an error for a message: the same for every channel. @module */

import { OutboundError } from "../outbound/error.ts";
import { MailError } from "../outbound/mail.ts";
import { retryAfterMs } from "../outbound/retry_after.ts";
import { SealError } from "../secrets/secrets.ts";
import type { OutboxOutcome } from "./outbox_channel.ts";

/** The status with which a receiver ends its subscription (Standard Webhooks). */
export const GONE = 410;

const NONE: ReadonlySet<number> = new Set();

/** A message that can never be sent, without a response. */
export const failedOutcome = (error: string): OutboxOutcome => ({
  result: "failed",
  status: null,
  error,
});

/**
 * The outcome of an HTTP response: 2xx is sent, 410 is gone, the statuses of `final` fail for good,
 * and all others are tried again, after `retry-after` or `pauseMs` at the earliest.
 *
 * @param options.reason A few words of this service, for users.
 * @param options.pauseMs A pause that the receiver requested in its body.
 */
export function outcomeOfResponse(
  { status, headers }: { status: number; headers: Record<string, string> },
  now: Date,
  { reason, final = NONE, pauseMs = 0 }: {
    reason?: string | undefined;
    final?: ReadonlySet<number>;
    pauseMs?: number | undefined;
  } = {},
): OutboxOutcome {
  if (status >= 200 && status < 300) return { result: "sent", status, error: null };
  const isRedirect = status >= 300 && status < 400;
  const why = reason ?? (isRedirect ? "redirects are not followed" : undefined);
  const error = why === undefined ? `HTTP ${status}` : `HTTP ${status}: ${why}`;
  if (status === GONE) return { result: "gone", status, error };
  if (final.has(status)) return { result: "failed", status, error };
  const afterMs = Math.max(pauseMs, retryAfterMs(headers["retry-after"], now) ?? 0);
  return { result: "retry", status, error, ...(afterMs > 0 && { afterMs }) };
}

/** The outcome of an attempt that threw; `undefined` for an unexpected error, which is a bug. */
export function outcomeOfError(error: unknown): OutboxOutcome | undefined {
  if (error instanceof SealError) return failedOutcome(error.message);
  if (error instanceof OutboundError) {
    return { result: "retry", status: null, error: error.message };
  }
  if (error instanceof MailError) {
    const { isTemporary, status, message } = error;
    return { result: isTemporary ? "retry" : "failed", status, error: message };
  }
  return undefined;
}
