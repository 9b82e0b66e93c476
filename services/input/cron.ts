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
import { AppError } from "../errors.ts";

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

/** Limit of skipped minutes: the longest clock change skips a day. */
const SKIPS_MAX = 2 * 24 * 60;

/** Limit of remembered times, which are all forgotten when it is reached. */
const KNOWN_MAX = 2_000;

/**
 * Checks an expression.
 *
 * @param field Names the expression in messages.
 * @throws {AppError} `invalid` for anything but five fields with values in range, and for an
 * expression that matches no day (30 February).
 */
export function assertCron(expression: string, field = "body.cronExpression"): void {
  try {
    const fields = split(expression);
    fields.forEach(assertField);
    if (!calendar(fields).nextRun(new Date(0))) {
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

/** `nextDue()`, or a function that remembers its results. */
export type NextDue = typeof nextDue;

/** Returns a `nextDue()` for many calls with the same expressions: a search takes some 0.1 ms. */
export function createNextDue(): NextDue {
  const known = new Map<string, { fromMs: number; due: Date }>();
  return (expression, timezone, after) => {
    const key = `${timezone} ${expression}`;
    const found = known.get(key);
    if (found && found.fromMs <= after.getTime() && after < found.due) return new Date(found.due);
    const due = nextDue(expression, timezone, after);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(key, { fromMs: after.getTime(), due });
    return new Date(due);
  };
}

/**
 * The first time after `after` at which the expression is due.
 *
 * @param expression Checked by `assertCron()`.
 * @param timezone Normalized by `normalizeTimeZone()`.
 */
export function nextDue(expression: string, timezone: string, after: Date): Date {
  const cron = calendar(split(expression));
  // The first occurrences of wall-clock times are in the same order as these.
  let wall: Date | null = wallClock(timezone, after);
  for (let tries = 0; tries < SKIPS_MAX; tries++) {
    wall = cron.nextRun(wall);
    if (!wall) break;
    const moment = firstMoment(timezone, wall);
    if (moment && moment > after) return moment;
  }
  throw new Error(`${expression} is never due in ${timezone}`);
}

/** Local time of a zone at a moment, as if it were UTC. */
export function wallClock(timezone: string, moment: Date): Date {
  const { offsetNanoseconds } = moment.toTemporalInstant().toZonedDateTimeISO(timezone);
  return new Date(moment.getTime() + offsetNanoseconds / 1e6);
}

/** When the clocks first show `wall`; `undefined` if they skip it. */
function firstMoment(timezone: string, wall: Date): Date | undefined {
  const time = wall.toTemporalInstant().toZonedDateTimeISO("UTC").toPlainDateTime();
  const zoned = time.toZonedDateTime(timezone);
  return zoned.toPlainDateTime().equals(time) ? new Date(zoned.epochMilliseconds) : undefined;
}

/**
 * As in cron, a day matches if either day field matches and both are restricted, or else if both
 * match; a field that begins with `*` is not restricted.
 */
function calendar(fields: readonly string[]): Cron {
  const domAndDow = fields[2]!.startsWith("*") || fields[4]!.startsWith("*");
  return new Cron(fields.join(" "), { timezone: "UTC", mode: "5-part", domAndDow });
}

function split(expression: string): string[] {
  const fields = expression.trim().split(/[ \t]+/);
  if (fields[0]!.startsWith("@")) {
    throw new CronError("nicknames are not supported; five fields are expected");
  }
  if (fields.length !== FIELDS.length) {
    throw new CronError(
      "five fields are expected (minute, hour, day of month, month, day of week), " +
        `not ${fields.length}`,
    );
  }
  // In a range that ends on Sunday, such as "sat-sun", croner would read "sun" as 0.
  fields[4] = fields[4]!.replace(/(?<=[1-6a-z]-)sun\b/i, "7");
  return fields;
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
    calendar(FIELDS.map((_, index) => index === at ? text : "*"));
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
