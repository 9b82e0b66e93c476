/**
 * Five-field cron expressions: what they may hold, and when they fall due in a time zone.
 *
 * The expression is read here, strictly; `croner` then only has to search the calendar, in UTC and
 * on a plain list of values. Wall-clock times become moments here as well: one that a clock change
 * leaves out is skipped, and one that it brings twice counts once, the first time.
 *
 * @module
 */

import { Cron } from "croner";
import { AppError } from "../errors.ts";

/** Longest expression: every value of every field written out is shorter. */
export const CRON_LENGTH_MAX = 400;

interface Field {
  name: string;
  min: number;
  max: number;
  /** Lower case, the first for `firstNamed`. */
  names?: readonly string[];
  firstNamed?: number;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");

const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS, firstNamed: 1 },
  { name: "day of week", min: 0, max: 7, names: DAYS, firstNamed: 0 },
];

const SUNDAY_TOO = 7;

/** One item of a list: `*`, `5`, `1-30`, each with an optional step where there is a range. */
const ITEM = /^(?:\*|([^/-]+)(?:-([^/-]+))?)(?:\/([^/]*))?$/;

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
 * Reads an expression into one that has nothing but lists of numbers. As cron does it, a day has
 * to fit one of the two day fields where both are restricted, and both otherwise; a field that
 * begins with `*` is not restricted.
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
  const pattern = FIELDS.map((field, index) => {
    const text = texts[index]!;
    return text === "*" ? "*" : valuesOf(expression, field, text).join(",");
  }).join(" ");
  return { pattern, domAndDow: texts[2]!.startsWith("*") || texts[4]!.startsWith("*") };
}

/** The values of a field, ascending. */
function valuesOf(expression: string, field: Field, text: string): number[] {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    for (const value of itemValues(expression, field, item)) {
      values.add(field.max === SUNDAY_TOO && value === SUNDAY_TOO ? 0 : value);
    }
  }
  return [...values].sort((a, b) => a - b);
}

function itemValues(expression: string, field: Field, item: string): number[] {
  const [whole, first, last, step] = ITEM.exec(item) ?? [];
  if (whole === undefined) throw refused(expression, `"${item}" is no ${field.name}`);
  const isRange = first === undefined || last !== undefined;
  if (step !== undefined && !isRange) {
    throw refused(expression, `the step in "${item}" needs a range (or *) before it`);
  }

  const from = first === undefined ? field.min : valueOf(expression, field, first);
  let to = from;
  if (first === undefined) to = field.max === SUNDAY_TOO ? field.max - 1 : field.max;
  else if (last !== undefined) to = valueOf(expression, field, last);
  // A week that ends on Sunday: "sat-sun".
  if (field.max === SUNDAY_TOO && last?.toLowerCase() === DAYS[0] && from > 0) to = SUNDAY_TOO;
  if (from > to) throw refused(expression, `the ${field.name} range "${item}" runs backwards`);

  const by = step === undefined ? 1 : stepOf(expression, field, step);
  const values = [];
  for (let value = from; value <= to; value += by) values.push(value);
  return values;
}

function valueOf(expression: string, field: Field, text: string): number {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return field.firstNamed! + named;
  if (!/^\d{1,2}$/.test(text)) throw refused(expression, `"${text}" is no ${field.name}`);
  const value = Number(text);
  if (value < field.min || value > field.max) {
    throw refused(
      expression,
      `the ${field.name} ${value} is not between ${field.min} and ${field.max}`,
    );
  }
  return value;
}

function stepOf(expression: string, field: Field, text: string): number {
  const step = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (step < 1 || step > field.max) {
    throw refused(expression, `the ${field.name} step "${text}" is not between 1 and ${field.max}`);
  }
  return step;
}

function refused(expression: string, reason: string): AppError {
  return new AppError(
    "invalid",
    `body.cronExpression: ${reason}; got "${expression.slice(0, 100)}"`,
  );
}
