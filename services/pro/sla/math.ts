/**
 * The mathematics of service levels: periods, budgets, burn rates. Knows no database and no clock;
 * every rule is a function of its arguments.
 *
 * Periods are those of UTC, so that none is longer or shorter for a change of the clocks. Times
 * are Unix milliseconds. Downtime is a list of intervals as `union()` gives it: two monitors that
 * are down at the same time are one downtime.
 *
 * @module
 */

import type { PeriodType } from "../../../db/pro/sla_definitions.ts";
import { COVERAGE_MIN_PERCENT } from "../../../db/pro/sla_periods.ts";
import { clip, type Interval, totalMs, union } from "../uptime/intervals.ts";

/** The days of a period, `YYYY-MM-DD`. */
export interface PeriodDates {
  start_date: string;
  /** The last day that belongs to it. */
  end_date: string;
}

/** A period and what became of it so far. */
export interface Progress {
  period: Interval;
  /** The part of the period that is over. */
  elapsed: Interval;
  /** Of the elapsed part. */
  downtimeMs: number;
  /** Percent, over 0 and below 100. */
  targetUptime: number;
}

/** How much of the downtime that a target allows is used. */
export interface Budget {
  total_budget_minutes: number;
  used_minutes: number;
  /** Negative once more is used than there was. */
  remaining_minutes: number;
  /** At least 0. */
  remaining_percentage: number;
  /** More downtime than the target allows. */
  is_breached: boolean;
  burn_rate: number;
}

/** The burn rate as it was when a day ended. */
export interface BurnRatePoint {
  /** `YYYY-MM-DD`. */
  date: string;
  burn_rate: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Decimals of what is shown; one second of a month is 0.000 04 %. */
const DECIMALS = 6;

/** The calendar month, or the week from Monday to Monday, that `at` lies in. */
export function periodAt(type: PeriodType, at: Date): Interval {
  const year = at.getUTCFullYear();
  const month = at.getUTCMonth();
  if (type === "monthly") {
    return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  }
  const daysSinceMonday = (at.getUTCDay() + 6) % 7;
  const start = Date.UTC(year, month, at.getUTCDate() - daysSinceMonday);
  return { start, end: start + 7 * DAY_MS };
}

export function datesOf({ start, end }: Interval): PeriodDates {
  return { start_date: dateOf(start), end_date: dateOf(end - DAY_MS) };
}

/** The reverse of {@linkcode datesOf}. */
export function intervalOf({ start_date, end_date }: PeriodDates): Interval {
  return { start: Date.parse(start_date), end: Date.parse(end_date) + DAY_MS };
}

/** The part of a period that is over at a time. */
export function elapsedOf({ start, end }: Interval, at: number): Interval {
  return { start, end: Math.min(Math.max(at, start), end) };
}

/**
 * Downtime that a target allows in a whole period, in milliseconds: 43.2 minutes for 99.9 percent
 * of 30 days.
 *
 * @param targetUptime Percent, over 0 and below 100.
 */
export function budgetMs(targetUptime: number, { start, end }: Interval): number {
  // 100 - 99.9 is 0.099 999 999 999 994 in binary: without rounding, an outage of exactly the
  // budget would exceed it. A target with more digits than that keeps what it has.
  const downPercent = Number((100 - targetUptime).toFixed(12)) || 100 - targetUptime;
  return Number(((end - start) * downPercent / 100).toPrecision(14));
}

/** When the downtime began to exceed the budget, or `undefined` where it does not. */
export function exceededAt(downtime: readonly Interval[], budget: number): Date | undefined {
  let usedMs = 0;
  for (const { start, end } of downtime) {
    if (usedMs + end - start > budget) return new Date(start + Math.floor(budget - usedMs));
    usedMs += end - start;
  }
  return undefined;
}

/**
 * Percent of the known time without downtime; `null` where less than 1 % of the elapsed time is
 * known. Time in which nothing was checked proves neither uptime nor downtime.
 *
 * @param known Of each monitor, when it was known whether it was up or down.
 */
export function uptimePercent(
  known: readonly (readonly Interval[])[],
  { elapsed, downtimeMs }: Pick<Progress, "elapsed" | "downtimeMs">,
): number | null {
  if (coveragePercent(known, elapsed) < COVERAGE_MIN_PERCENT) return null;
  const knownMs = totalMs(clip(union(known.flat()), elapsed));
  return rounded(100 * (1 - downtimeMs / knownMs));
}

/**
 * How much of the elapsed time is known, in percent, as the mean over the monitors; 0 before any
 * time has passed.
 *
 * @param known Of each monitor, when it was known whether it was up or down.
 */
export function coveragePercent(
  known: readonly (readonly Interval[])[],
  elapsed: Interval,
): number {
  const possibleMs = (elapsed.end - elapsed.start) * known.length;
  if (possibleMs === 0) return 0;
  const knownMs = known.reduce((sum, each) => sum + totalMs(clip(each, elapsed)), 0);
  return rounded(100 * knownMs / possibleMs);
}

/**
 * Share of the budget that is used, divided by the share of the period that has elapsed: at 1 the
 * budget lasts exactly as long as the period, at 2 for half of it.
 */
export function burnRateOf({ period, elapsed, downtimeMs, targetUptime }: Progress): number {
  const elapsedShare = (elapsed.end - elapsed.start) / (period.end - period.start);
  return elapsedShare === 0
    ? 0
    : rounded(downtimeMs / budgetMs(targetUptime, period) / elapsedShare);
}

/** What is used and left of the budget of the whole period. */
export function budgetOf(progress: Progress): Budget {
  const total = budgetMs(progress.targetUptime, progress.period);
  const remaining = total - progress.downtimeMs;
  return {
    total_budget_minutes: rounded(total / MINUTE_MS),
    used_minutes: rounded(progress.downtimeMs / MINUTE_MS),
    remaining_minutes: rounded(remaining / MINUTE_MS),
    remaining_percentage: rounded(Math.max(0, 100 * remaining / total)),
    is_breached: progress.downtimeMs > total,
    burn_rate: burnRateOf(progress),
  };
}

/** The burn rate at the end of each day that has begun; of the last one as it is now. */
export function burnRateByDay(
  downtime: readonly Interval[],
  { period, elapsed, targetUptime }: Omit<Progress, "downtimeMs">,
): BurnRatePoint[] {
  const points: BurnRatePoint[] = [];
  for (let day = period.start; day < elapsed.end; day += DAY_MS) {
    const soFar = elapsedOf(elapsed, day + DAY_MS);
    const downtimeMs = totalMs(clip(downtime, soFar));
    const burn_rate = burnRateOf({ period, elapsed: soFar, downtimeMs, targetUptime });
    points.push({ date: dateOf(day), burn_rate });
  }
  return points;
}

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Without the traces of binary fractions, such as 0.300 000 000 000 000 04. */
const rounded = (value: number): number => Number(value.toFixed(DECIMALS));
