/**
 * Calculations for service levels: periods, error budgets and burn rates, as pure functions.
 *
 * Periods are in UTC, so that daylight saving time does not change their length. Times are Unix
 * milliseconds. Downtime is a list of intervals as `union()` returns it: if two monitors are down
 * at the same time, the time counts once.
 *
 * @module
 */

import type { PeriodType } from "../../../db/pro/sla_definitions.ts";
import { COVERAGE_MIN_PERCENT } from "../../../db/pro/sla_periods.ts";
import { clip, type Interval, totalMs, union } from "../uptime/intervals.ts";

/** The first and last day of a period, `YYYY-MM-DD`. */
interface PeriodDates {
  start_date: string;
  /** Inclusive. */
  end_date: string;
}

/** A period with its downtime so far. */
export interface Progress {
  period: Interval;
  /** The part of the period that is over. */
  elapsed: Interval;
  /** Of the elapsed part. */
  downtimeMs: number;
  /** Percent, over 0 and below 100. */
  targetUptime: number;
}

/** The downtime that a target allows, and how much of it is used. */
export interface Budget {
  total_budget_minutes: number;
  used_minutes: number;
  /** Negative if the budget is exceeded. */
  remaining_minutes: number;
  /** At least 0. */
  remaining_percentage: number;
  /** More downtime than the target allows. */
  is_breached: boolean;
  burn_rate: number;
}

/** The burn rate at the end of a day. */
export interface BurnRatePoint {
  /** `YYYY-MM-DD`. */
  date: string;
  burn_rate: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Decimals of returned figures; one second of a month is 0.000 04 %. */
const DECIMALS = 6;

/** The calendar month or the week (from Monday) that contains `at`. */
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

/** The part of a period that has passed at the given time. */
export function elapsedOf({ start, end }: Interval, at: number): Interval {
  return { start, end: Math.min(Math.max(at, start), end) };
}

/**
 * The downtime that a target allows in a period, in milliseconds. For 99.9 percent of 30 days it is
 * 43.2 minutes.
 *
 * @param targetUptime Percent, over 0 and below 100.
 */
export function budgetMs(targetUptime: number, { start, end }: Interval): number {
  // 100 - 99.9 is 0.099 999 999 999 994 in binary: without rounding, an outage as long as the
  // budget would exceed it. A target with more digits is not rounded to 0.
  const downPercent = Number((100 - targetUptime).toFixed(12)) || 100 - targetUptime;
  return Number(((end - start) * downPercent / 100).toPrecision(14));
}

/** When the downtime exceeded the budget; `undefined` if it did not. */
export function exceededAt(downtime: readonly Interval[], budget: number): Date | undefined {
  let usedMs = 0;
  for (const { start, end } of downtime) {
    if (usedMs + end - start > budget) return new Date(start + Math.floor(budget - usedMs));
    usedMs += end - start;
  }
  return undefined;
}

/**
 * Uptime in percent of the known time; `null` if less than 1 % of the elapsed time is known. Time
 * without checks counts neither as up nor as down.
 *
 * @param known For each monitor, the times at which its state was known.
 */
export function uptimePercent(
  known: readonly (readonly Interval[])[],
  { elapsed, downtimeMs }: Pick<Progress, "elapsed" | "downtimeMs">,
): number | null {
  if (coveragePercent(known, elapsed) < COVERAGE_MIN_PERCENT) return null;
  const knownMs = totalMs(clip(union(known.flat()), elapsed));
  return round(100 * (1 - downtimeMs / knownMs));
}

/**
 * The share of the elapsed time that is known, in percent, averaged over the monitors; 0 at the
 * start of a period.
 *
 * @param known For each monitor, the times at which its state was known.
 */
export function coveragePercent(
  known: readonly (readonly Interval[])[],
  elapsed: Interval,
): number {
  const possibleMs = (elapsed.end - elapsed.start) * known.length;
  if (possibleMs === 0) return 0;
  const knownMs = known.reduce((sum, intervals) => sum + totalMs(clip(intervals, elapsed)), 0);
  return round(100 * knownMs / possibleMs);
}

/**
 * The used share of the budget divided by the elapsed share of the period. At 1 the budget lasts
 * exactly for the period, at 2 for half of it.
 */
export function burnRateOf({ period, elapsed, downtimeMs, targetUptime }: Progress): number {
  const elapsedShare = (elapsed.end - elapsed.start) / (period.end - period.start);
  return elapsedShare === 0 ? 0 : round(downtimeMs / budgetMs(targetUptime, period) / elapsedShare);
}

/** The used and remaining budget of the whole period. */
export function budgetOf(progress: Progress): Budget {
  const total = budgetMs(progress.targetUptime, progress.period);
  const remaining = total - progress.downtimeMs;
  return {
    total_budget_minutes: round(total / MINUTE_MS),
    used_minutes: round(progress.downtimeMs / MINUTE_MS),
    remaining_minutes: round(remaining / MINUTE_MS),
    remaining_percentage: round(Math.max(0, 100 * remaining / total)),
    is_breached: progress.downtimeMs > total,
    burn_rate: burnRateOf(progress),
  };
}

/** The burn rate at the end of each past day, and the current one for today. */
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

/** Removes binary rounding errors such as 0.300 000 000 000 000 04. */
const round = (value: number): number => Number(value.toFixed(DECIMALS));
