/** Days and months of the calendar, in the browser's time zone. @module */

/** The day of a time, e.g. `2026-11-27`. */
export function dayOf(time: Date): string {
  const parts = [time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0"));
  return [time.getFullYear(), ...parts].join("-");
}

/** The month of a day, e.g. `2026-11`. */
export const monthOf = (day: string): string => day.slice(0, 7);

export interface Month {
  /** E.g. `November 2026`. */
  title: string;
  /** From Monday. */
  weekdays: readonly string[];
  /** The days of each week; `undefined` for those of another month. */
  weeks: readonly (string | undefined)[][];
  previous: string;
  next: string;
}

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** @param month E.g. `2026-11`. */
export function weeksOf(month: string): Month {
  const [year, number] = month.split("-").map(Number) as [number, number];
  const first = new Date(Date.UTC(year, number - 1, 1));
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const before = (first.getUTCDay() + 6) % 7;
  const cells = [
    ...Array.from({ length: before }, () => undefined),
    ...Array.from({ length }, (_, at) => `${month}-${String(at + 1).padStart(2, "0")}`),
  ];
  while (cells.length % 7 > 0) cells.push(undefined);
  return {
    title: first.toLocaleDateString("en", { month: "long", year: "numeric", timeZone: "UTC" }),
    weekdays: WEEKDAYS,
    weeks: Array.from({ length: cells.length / 7 }, (_, at) => cells.slice(7 * at, 7 * at + 7)),
    previous: isoMonth(year, number - 2),
    next: isoMonth(year, number),
  };
}

/** @param at From 0; may be outside of the year. */
const isoMonth = (year: number, at: number): string =>
  new Date(Date.UTC(year, at, 1)).toISOString().slice(0, 7);
