/** Headers whose values are secrets: stored encrypted and shown redacted. @module */

import { AppError } from "../errors.ts";
import { outboundHeaderProblem } from "./headers.ts";
import { GIVE_AGAIN, NOTHING_STORED, REDACTED } from "../text/redact.ts";

interface Kept {
  /** The stored headers. */
  stored: Record<string, string>;
  /**
   * Whether they would be sent to another origin than before. Then no stored value can be kept.
   */
  elsewhere: boolean;
  /** Names of headers that the service sets, in lower case. */
  reserved?: ReadonlySet<string>;
}

/**
 * Checks headers before they are stored. A redacted value keeps the stored one.
 *
 * @param given Replaces the stored headers as a whole; `undefined` keeps them.
 * @throws {AppError} `invalid`
 */
export function checkedHeaders(
  given: Record<string, string> | undefined,
  { stored, elsewhere, reserved }: Kept,
): Record<string, string> {
  if (!given && !elsewhere) return stored;
  const values = new Map(
    Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const checked = new Map<string, [name: string, value: string]>();
  for (const [name, text] of Object.entries(given ?? redactedHeaders(stored))) {
    const key = name.toLowerCase();
    const refused = (problem: string) =>
      new AppError("invalid", `body.headers.${name.slice(0, 100)}: ${problem}`);
    const value = text === REDACTED ? values.get(key) : text;
    if (value === undefined) throw refused(NOTHING_STORED);
    if (text === REDACTED && elsewhere) throw refused(GIVE_AGAIN);
    if (reserved?.has(key)) throw refused("set by the service itself");
    if (checked.has(key)) throw refused("given twice, in different cases");
    const problem = outboundHeaderProblem(name, value);
    if (problem) throw refused(problem);
    checked.set(key, [name, value]);
  }
  return Object.fromEntries(checked.values());
}

/** The names of the headers, with redacted values. */
export function redactedHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED]));
}
