/**
 * The headers that a webhook's owner sets.
 *
 * @module
 */

import { AppError } from "../errors.ts";
import { outboundHeaderProblem } from "../outbound_http.ts";
import { REDACTED } from "../redact.ts";

/** Most headers of one webhook. */
export const WEBHOOK_HEADERS_MAX = 20;

/** Headers of each delivery that nobody else sets. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);

/**
 * Headers as they are stored: checked, and with the values that are kept.
 *
 * @throws {AppError} `invalid`
 */
export function checkedHeaders(
  headers: Record<string, string>,
  stored: Record<string, string>,
): Record<string, string> {
  const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const seen = new Set<string>();
  return Object.fromEntries(
    Object.entries(headers).map(([name, given]) => {
      const key = name.toLowerCase();
      const value = given === REDACTED ? kept.get(key) : given;
      const problem = value === undefined
        ? `"${REDACTED}" keeps a stored value, and there is none`
        : OWN_HEADERS.has(key)
        ? "set by the service itself"
        : seen.has(key)
        ? "given twice, in different cases"
        : outboundHeaderProblem(name, value);
      if (problem) {
        throw new AppError("invalid", `body.headers.${name.slice(0, 100)}: ${problem}`);
      }
      seen.add(key);
      return [name, value!];
    }),
  );
}
