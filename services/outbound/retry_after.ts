/** The `retry-after` header. @module */

/**
 * Returns the delay of a `retry-after` header, which is in seconds or a date (RFC 9110, 10.2.3).
 *
 * @returns Milliseconds; `undefined` if the header is missing or invalid.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? undefined : Math.max(0, until - now.getTime());
}
