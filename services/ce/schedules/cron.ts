/**
 * Five-field cron expressions: validation, and due times in a time zone.
 *
 * `croner` parses the fields and searches the calendar, always in UTC. Wall-clock times are converted
 * here: one that a clock change skips is not run, and one that occurs twice runs once, the first time.
 *
 * @module
 */

import { Cron } from "croner";
import { AppError } from "../../errors.ts";

/** Longest expression: every value of every field written out is shorter. */
export const CRON_LENGTH_MAX = 400;

interface Field {
  name: string;
  /** The valid values, for messages. */
  range: string;
  /** Names that may stand for a value, in lower case. */
  names?: readonly string[];
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");

const FIELDS: readonly Field[] = [
  { name: "minute", range: "0 to 59" },
  { name: "hour", range: "0 to 23" },
  { name: "day of month", range: "1 to 31" },
  { name: "month", range: "1 to 12 or jan to dec", names: MONTHS },
  { name: "day of week", range: "0 to 7 or sun to sat", names: DAYS },
];

const HOUR_MS = 60 * 60 * 1000;

/** No zone is further from UTC than 14 hours, so no change of its clocks is missed at this distance. */
const FAR_MS = 16 * HOUR_MS;

/** The longest clock change leaves out a day: so many minutes are skipped at most, and then some. */
const SKIPS_MAX = 2 * 24 * 60;

/** What is kept to answer faster; each is emptied when it is full. */
const ANSWERS_KEPT = 2_000;
const ZONES_KEPT = 64;

const answers = new Map<string, { fromMs: number; nextMs: number }>();
const zones = new Map<string, Intl.DateTimeFormat>();

/**
 * @throws {AppError} `invalid`, naming what is wrong, for anything but five fields with values in
 * range, and for an expression that no day fits (30 February).
 */
export function assertCron(expression: string): void {
  const { pattern, domAndDow } = read(expression);
  if (!calendar(pattern, domAndDow).nextRun(new Date(0))) {
    throw refused(expression, "no day of any year fits");
  }
}

/**
 * The name of a time zone as it is stored.
 *
 * @throws {AppError} `invalid` for a name that the IANA database does not have.
 */
export function timeZoneNamed(name: string): string {
  try {
    // An offset ("+02:00") would be taken as well, but is no zone.
    if (!/^[A-Za-z]/.test(name)) throw new RangeError("not a name");
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    // An alias is kept ("Asia/Kolkata" must not become "Asia/Calcutta"); only its case is put right.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch (cause) {
    throw new AppError("invalid", `body.timezone: ${name} is no IANA time zone`, { cause });
  }
}

/** The host's time zone; UTC where it cannot be told. */
export function hostTimeZone(): string {
  try {
    return timeZoneNamed(Intl.DateTimeFormat().resolvedOptions().timeZone);
  } catch {
    return "UTC";
  }
}

/**
 * The first moment after `after` at which the expression falls due.
 *
 * @param expression One that `assertCron` accepts.
 * @param timezone One that `timeZoneNamed` accepts.
 */
export function nextDue(expression: string, timezone: string, after: Date): Date {
  const key = `${timezone} ${expression}`;
  const afterMs = after.getTime();
  const known = answers.get(key);
  if (known && known.fromMs <= afterMs && afterMs < known.nextMs) return new Date(known.nextMs);

  const nextMs = search(expression, timezone, afterMs);
  if (answers.size >= ANSWERS_KEPT) answers.clear();
  answers.set(key, { fromMs: afterMs, nextMs });
  return new Date(nextMs);
}

/**
 * Goes through the wall-clock times that fit. Later wall-clock times come at later moments, if the
 * first moment of each counts, so none before that of `afterMs` can still be ahead.
 */
function search(expression: string, timezone: string, afterMs: number): number {
  const { pattern, domAndDow } = read(expression);
  const cron = calendar(pattern, domAndDow);
  let wall: Date | null = new Date(afterMs + offsetMs(timezone, afterMs));
  for (let tries = 0; tries < SKIPS_MAX; tries++) {
    wall = cron.nextRun(wall);
    if (!wall) break;
    const moment = firstMoment(timezone, wall.getTime());
    if (moment !== undefined && moment > afterMs) return moment;
  }
  throw new Error(`${expression} never falls due in ${timezone}`);
}

/** When the clocks show `wallMs` for the first time; `undefined` when they leave it out. */
function firstMoment(timezone: string, wallMs: number): number | undefined {
  const before = wallMs - offsetMs(timezone, wallMs - FAR_MS);
  const after = wallMs - offsetMs(timezone, wallMs + FAR_MS);
  return [before, after]
    .filter((moment) => moment + offsetMs(timezone, moment) === wallMs)
    .sort((a, b) => a - b)[0];
}

/** How far the zone's clocks are ahead of UTC at a moment. */
function offsetMs(timezone: string, moment: number): number {
  let zone = zones.get(timezone);
  if (!zone) {
    if (zones.size >= ZONES_KEPT) zones.clear();
    zone = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
    zones.set(timezone, zone);
  }
  // E.g. "1/31/2026, GMT+05:30", or just "GMT" for none.
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(zone.format(moment)) ?? [];
  if (sign === undefined) return 0;
  const offset = (Number(hours) + Number(minutes) / 60) * HOUR_MS;
  return sign === "-" ? -offset : offset;
}

function calendar(pattern: string, domAndDow: boolean): Cron {
  return new Cron(pattern, { timezone: "UTC", mode: "5-part", domAndDow });
}

/**
 * Checks an expression and reads it. As in cron, a day has to match one of the two day fields where
 * both are restricted, and both otherwise; a field that begins with `*` is not restricted.
 */
function read(expression: string): { pattern: string; domAndDow: boolean } {
  const texts = expression.trim().split(/[ \t]+/);
  if (texts[0]!.startsWith("@")) {
    throw refused(expression, "nicknames are not supported, five fields are expected");
  }
  if (texts.length !== FIELDS.length) {
    throw refused(
      expression,
      "five fields are expected (minute, hour, day of month, month, day of week), " +
        `not ${texts.length}`,
    );
  }
  // A week that ends on Sunday, such as "sat-sun"; croner knows the name as 0 only.
  texts[4] = texts[4]!.replace(/(?<=[1-6a-z]-)sun\b/i, "7");
  texts.forEach((text, at) => assertField(expression, text, at));
  return {
    pattern: texts.join(" "),
    domAndDow: texts[2]!.startsWith("*") || texts[4]!.startsWith("*"),
  };
}

/** A value, or `*` or a range with an optional step. */
const ITEM = /^(?:\d{1,2}|(?:\*|\d{1,2}-\d{1,2})(?:\/\d{1,2})?)$/;

/** croner checks the values; the form is checked here, because croner also accepts L, W and #. */
function assertField(expression: string, text: string, at: number): void {
  const { name, range, names = [] } = FIELDS[at]!;
  const numeric = text.toLowerCase().replace(
    /[a-z]+/g,
    (word) => names.includes(word) ? "1" : word,
  );
  try {
    if (!numeric.split(",").every((item) => ITEM.test(item))) {
      throw new TypeError("not cron syntax");
    }
    calendar(FIELDS.map((_, index) => index === at ? text : "*").join(" "), true);
  } catch (cause) {
    throw refused(
      expression,
      `the ${name} "${text.slice(0, 50)}" is not valid; expected ${range}, ` +
        "as a value, list (1,2), range (1-5) or step (*/5)",
      cause,
    );
  }
}

function refused(expression: string, reason: string, cause?: unknown): AppError {
  return new AppError(
    "invalid",
    `body.cronExpression: ${reason}; got "${expression.slice(0, 100)}"`,
    { cause },
  );
}
