/**
 * The headers that a webhook's owner sets.
 *
 * @module
 */

/** Most headers of one webhook. */
export const WEBHOOK_HEADERS_MAX = 20;

/** Headers of each delivery that nobody else sets. */
export const WEBHOOK_OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);
