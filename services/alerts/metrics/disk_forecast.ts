/** Predicts when the host's disk is full, from its growth over the last hours. @module */

import { selectMetricHistory } from "../../../db/metric_samples.ts";
import type { Deps } from "../../deps.ts";
import { LOCAL_HOST } from "../../../db/host_id.ts";
import type { Reading } from "../memory.ts";

/** The growth of these hours continues. */
const HISTORY_S = 6 * 3_600;

/** Shorter histories say too little. */
const HISTORY_MIN_S = 3_600;

/** Interval of the points, in seconds. */
const STEP_S = 300;

/** Longest prediction in hours: a year. A disk that does not fill has this value. */
const FORECAST_MAX_HOURS = 8_760;

/** Use of the disk at one time. */
export interface DiskPoint {
  /** Unix seconds. */
  ts: number;
  diskPercent: number;
}

/** Hours until the disk is full, or why that is not known yet. */
export function readDiskForecast({ metrics, now }: Pick<Deps, "metrics" | "now">): Reading {
  const to = Math.floor(now().getTime() / 1000);
  const points = selectMetricHistory(metrics, {
    hostId: LOCAL_HOST,
    resolution: 60,
    step: STEP_S,
    from: to - HISTORY_S,
    to,
  });
  const value = hoursUntilFull(points);
  return value === undefined ? { reason: "There is less than an hour of history yet" } : { value };
}

/**
 * Extends the line that fits the points best (least squares).
 *
 * @param points Oldest first.
 * @returns With one decimal, at most {@linkcode FORECAST_MAX_HOURS}; `undefined` if the points cover
 * less than an hour.
 */
export function hoursUntilFull(points: readonly DiskPoint[]): number | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || last.ts - first.ts < HISTORY_MIN_S) return undefined;
  const hours = points.map(({ ts }) => (ts - last.ts) / 3_600);
  const meanHour = mean(hours);
  const meanPercent = mean(points.map(({ diskPercent }) => diskPercent));
  let covariance = 0;
  let variance = 0;
  for (const [i, { diskPercent }] of points.entries()) {
    covariance += (hours[i]! - meanHour) * (diskPercent - meanPercent);
    variance += (hours[i]! - meanHour) ** 2;
  }
  const growth = covariance / variance;
  const left = Math.max(0, 100 - last.diskPercent);
  if (left === 0) return 0;
  if (growth <= 0) return FORECAST_MAX_HOURS;
  return Math.min(FORECAST_MAX_HOURS, Math.round(10 * left / growth) / 10);
}

const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
