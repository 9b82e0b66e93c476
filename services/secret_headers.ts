/**
 * Headers whose values are secrets: stored encrypted, and shown redacted.
 *
 * @module
 */

import { AppError } from "./errors.ts";
import { outboundHeaderProblem } from "./outbound_http.ts";
import { GIVE_AGAIN, REDACTED } from "./redact.ts";

interface Kept {
  /** The stored headers, whose values can be kept. */
  stored: Record<string, string>;
  /** Whether they would be sent to another origin than they were given for. */
  elsewhere: boolean;
  /** Headers that nobody may set, in lower case. */
  reserved?: ReadonlySet<string>;
}

/**
 * Headers as they are stored: checked, and with the values that are kept.
 *
 * @param given Replaces the stored ones as a whole; `undefined` keeps them.
 * @throws {AppError} `invalid`
 */
export function checkedHeaders(
  given: Record<string, string> | undefined,
  { stored, elsewhere, reserved }: Kept,
): Record<string, string> {
  if (!given && !elsewhere) return stored;
  const headers = given ?? redactedHeaders(stored);
  const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const seen = new Set<string>();
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => {
      const key = name.toLowerCase();
      const value = text === REDACTED ? kept.get(key) : text;
      const problem = value === undefined
        ? `"${REDACTED}" keeps a stored value, and there is none`
        : text === REDACTED && elsewhere
        ? GIVE_AGAIN
        : reserved?.has(key)
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

/** Which headers there are, and nothing of what they hold. */
export function redactedHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED]));
}
