/**
 * Custom headers of webhooks.
 *
 * @module
 */

/** Limit of custom headers per webhook. */
export const WEBHOOK_HEADERS_MAX = 20;

/** Headers that the service sets and that a webhook cannot override. */
export const WEBHOOK_RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);
