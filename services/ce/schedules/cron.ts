/**
 * Five-field cron expressions: validation, and due times in a time zone.
 *
 * `croner` parses the fields and searches the calendar, always in UTC. Wall-clock times are converted
 * here: a time skipped by a clock change is not due, and a time that occurs twice is due once, at its
 * first occurrence.
 *
 * @module
 */

import { Cron } from "croner";
import { AppError } from "../../errors.ts";

/** Longest expression, in characters; enough to list every value of every field. */
export const CRON_LENGTH_MAX = 400;

interface Field {
  name: string;
  /** The valid values, for messages. */
  range: string;
  /** The largest value; a larger step would never be taken. */
  max: number;
  /** Names accepted instead of a value, in lower case. */
  names?: readonly string[];
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");

const FIELDS: readonly Field[] = [
  { name: "minute", range: "0 to 59", max: 59 },
  { name: "hour", range: "0 to 23", max: 23 },
  { name: "day of month", range: "1 to 31", max: 31 },
  { name: "month", range: "1 to 12 or jan to dec", max: 12, names: MONTHS },
  { name: "day of week", range: "0 to 7 or sun to sat", max: 7, names: DAYS },
];

const HOUR_MS = 60 * 60 * 1000;

/** More than the largest UTC offset of any zone (14 hours), so that no clock change is missed. */
const FAR_MS = 16 * HOUR_MS;

/** Limit of skipped minutes: the longest clock change skips a day. */
const SKIPS_MAX = 2 * 24 * 60;

/** Sizes of the caches below, which are emptied when they are full. */
const ANSWERS_MAX = 2_000;
const ZONES_MAX = 64;

// Caches of pure functions: due times by zone and expression, formatters by zone.
const answers = new Map<string, { fromMs: number; nextMs: number }>();
const zones = new Map<string, Intl.DateTimeFormat>();

/**
 * Checks an expression.
 *
 * @param field Names the expression in messages.
 * @throws {AppError} `invalid` for anything but five fields with values in range, and for an
 * expression that matches no day (30 February).
 */
export function assertCron(expression: string, field = "body.cronExpression"): void {
  try {
    const { pattern, domAndDow } = parse(expression);
    if (!calendar(pattern, domAndDow).nextRun(new Date(0))) {
      throw new CronError("it matches no day of any year");
    }
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    const given = expression.slice(0, 100);
    throw new AppError("invalid", `${field}: ${error.message}; got "${given}"`, { cause: error });
  }
}

/**
 * Normalizes the name of a time zone.
 *
 * @param field Names the time zone in messages.
 * @throws {AppError} `invalid` for a name that is not in the IANA database.
 */
export function normalizeTimeZone(name: string, field = "body.timezone"): string {
  try {
    // `Intl` also accepts offsets ("+02:00").
    if (!/^[A-Za-z]/.test(name)) throw new RangeError("not a name");
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    // An alias is kept ("Asia/Kolkata" must not become "Asia/Calcutta"); only its case is corrected.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch (cause) {
    throw new AppError("invalid", `${field}: ${name} is not an IANA time zone`, { cause });
  }
}

/** The host's time zone; UTC if unknown. */
export function hostTimeZone(): string {
  try {
    return normalizeTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone);
  } catch {
    return "UTC";
  }
}

/**
 * The first time after `after` at which the expression is due.
 *
 * @param expression Checked by `assertCron()`.
 * @param timezone Normalized by `normalizeTimeZone()`.
 */
export function nextDue(expression: string, timezone: string, after: Date): Date {
  const key = `${timezone} ${expression}`;
  const afterMs = after.getTime();
  const known = answers.get(key);
  if (known && known.fromMs <= afterMs && afterMs < known.nextMs) return new Date(known.nextMs);

  const nextMs = search(expression, timezone, afterMs);
  if (answers.size >= ANSWERS_MAX) answers.clear();
  answers.set(key, { fromMs: afterMs, nextMs });
  return new Date(nextMs);
}

/**
 * Searches the matching wall-clock times from that of `afterMs` on. Their first occurrences are in
 * the same order as the wall-clock times.
 */
function search(expression: string, timezone: string, afterMs: number): number {
  const { pattern, domAndDow } = parse(expression);
  const cron = calendar(pattern, domAndDow);
  let wall: Date | null = new Date(afterMs + offsetMs(timezone, afterMs));
  for (let tries = 0; tries < SKIPS_MAX; tries++) {
    wall = cron.nextRun(wall);
    if (!wall) break;
    const moment = firstMoment(timezone, wall.getTime());
    if (moment !== undefined && moment > afterMs) return moment;
  }
  throw new Error(`${expression} is never due in ${timezone}`);
}

/** When the clocks first show `wallMs`; `undefined` if they skip it. */
function firstMoment(timezone: string, wallMs: number): number | undefined {
  const before = wallMs - offsetMs(timezone, wallMs - FAR_MS);
  const after = wallMs - offsetMs(timezone, wallMs + FAR_MS);
  return [before, after]
    .filter((moment) => moment + offsetMs(timezone, moment) === wallMs)
    .sort((a, b) => a - b)[0];
}

/** A zone's offset from UTC at a moment, in milliseconds. */
export function offsetMs(timezone: string, moment: number): number {
  let zone = zones.get(timezone);
  if (!zone) {
    if (zones.size >= ZONES_MAX) zones.clear();
    zone = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
    zones.set(timezone, zone);
  }
  // E.g. "1/31/2026, GMT+05:30", or "GMT" without an offset.
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(zone.format(moment)) ?? [];
  if (sign === undefined) return 0;
  const offset = (Number(hours) + Number(minutes) / 60) * HOUR_MS;
  return sign === "-" ? -offset : offset;
}

function calendar(pattern: string, domAndDow: boolean): Cron {
  return new Cron(pattern, { timezone: "UTC", mode: "5-part", domAndDow });
}

/**
 * Parses and checks an expression. As in cron, a day matches if either day field matches and both
 * are restricted, or else if both match; a field that begins with `*` is not restricted.
 */
function parse(expression: string): { pattern: string; domAndDow: boolean } {
  const texts = expression.trim().split(/[ \t]+/);
  if (texts[0]!.startsWith("@")) {
    throw new CronError("nicknames are not supported; five fields are expected");
  }
  if (texts.length !== FIELDS.length) {
    throw new CronError(
      "five fields are expected (minute, hour, day of month, month, day of week), " +
        `not ${texts.length}`,
    );
  }
  // In a range that ends on Sunday, such as "sat-sun", croner would read "sun" as 0.
  texts[4] = texts[4]!.replace(/(?<=[1-6a-z]-)sun\b/i, "7");
  texts.forEach(assertField);
  return {
    pattern: texts.join(" "),
    domAndDow: texts[2]!.startsWith("*") || texts[4]!.startsWith("*"),
  };
}

/** A value, or `*` or a range with an optional step. */
const ITEM = /^(?:\d{1,2}|(?:\*|\d{1,2}-\d{1,2})(?:\/\d{1,2})?)$/;

/** Checks the syntax, because croner also accepts L, W and #; croner checks the values. */
function assertField(text: string, at: number): void {
  const { name, range, max, names = [] } = FIELDS[at]!;
  const numeric = text.toLowerCase().replace(
    /[a-z]+/g,
    (word) => names.includes(word) ? "1" : word,
  );
  try {
    const isStepTooLarge = (item: string) => Number(item.split("/")[1] ?? 1) > max;
    if (!numeric.split(",").every((item) => ITEM.test(item) && !isStepTooLarge(item))) {
      throw new TypeError("not cron syntax");
    }
    calendar(FIELDS.map((_, index) => index === at ? text : "*").join(" "), true);
  } catch (cause) {
    throw new CronError(
      `the ${name} "${text.slice(0, 50)}" is not valid; expected ${range}, ` +
        "as a value, list (1,2), range (1-5) or step (*/5)",
      { cause },
    );
  }
}

/** The reason is the message. */
class CronError extends Error {
  override readonly name = "CronError";
}
