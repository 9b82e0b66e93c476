/**
 * Which part of a metrics history a request asks for, and in which resolution it is answered.
 *
 * @module
 */

import type { Resolution } from "../../../db/ce/metric_samples.ts";
import { AppError } from "../../errors.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** How long the rows of each resolution are kept, in seconds. */
export const KEPT_S: Record<Resolution, number> = { 15: 2 * DAY_S, 60: 8 * DAY_S, 900: 30 * DAY_S };

/** Limit of points in an answer. */
const POINTS_MAX = 1_000;

const DEFAULT_HOURS = 24;

/** Seconds between the points of an answer, from fine to coarse, and the rows they are made of. */
const STEPS: readonly { step: number; resolution: Resolution }[] = [
  { step: 15, resolution: 15 },
  { step: 60, resolution: 60 },
  { step: 120, resolution: 60 },
  { step: 300, resolution: 60 },
  { step: 900, resolution: 900 },
  { step: 1_800, resolution: 900 },
  { step: 3_600, resolution: 900 },
];

const UNIT_S = { m: 60, h: HOUR_S, d: DAY_S };

/** What a request may give; the length comes from one of `hours`, `range` and `from`. */
export interface WindowQuery {
  hours?: number | undefined;
  /** E.g. `90m`, `24h` or `7d`. */
  range?: string | undefined;
  /** ISO 8601, UTC. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Times are Unix seconds. */
export interface Window {
  from: number;
  to: number;
  /** Seconds between the points of the answer. */
  step: number;
  resolution: Resolution;
}

/**
 * The window of a request: by default the last 24 hours. It never reaches into the future, nor
 * back behind the 30 days that are kept.
 *
 * @param keptS How long the rows of each resolution are kept, where that is less than usual.
 * @throws {AppError} `invalid`
 */
export function windowOf(
  { hours, range, from, to }: WindowQuery,
  now: Date,
  keptS: Record<Resolution, number> = KEPT_S,
): Window {
  if ([hours, range, from].filter((each) => each !== undefined).length > 1) {
    throw new AppError("invalid", "query: give only one of hours, range and from");
  }
  const nowS = Math.floor(now.getTime() / 1000);
  const end = Math.min(nowS, to === undefined ? nowS : secondsOf(to));
  const lengthS = range === undefined ? (hours ?? DEFAULT_HOURS) * HOUR_S : rangeSeconds(range);
  const wanted = from === undefined ? end - lengthS : secondsOf(from);
  const begin = Math.max(wanted, nowS - KEPT_S[900]);
  if (begin >= end) {
    throw new AppError("invalid", "query: from must be before to, within the last 30 days");
  }
  // The range seldom begins and ends on a point, which makes one more.
  const { step, resolution } =
    STEPS.find(({ step, resolution }) =>
      (end - begin) / step + 1 <= POINTS_MAX && begin >= nowS - keptS[resolution]
    ) ?? STEPS.at(-1)!;
  return { from: begin, to: end, step, resolution };
}

/** The rows to read: the first point contains the beginning of the window. */
export function rowsOf({ from, to, step, resolution }: Window): Window {
  return { from: from - from % step, to, step, resolution };
}

/** The fields of every history that describe its window. */
export function describeWindow({ from, to, step }: Window) {
  return {
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
    hours: rounded((to - from) / HOUR_S),
    resolutionSeconds: step,
  };
}

/** `null` where nothing is known. */
export interface Summary {
  min: number | null;
  avg: number | null;
  max: number | null;
}

/** Summarizes one figure over points that stand for different numbers of samples. */
export function summarize(
  values: readonly { min: number; mean: number; max: number; samples: number }[],
): Summary {
  const samples = values.reduce((sum, each) => sum + each.samples, 0);
  if (samples === 0) return { min: null, avg: null, max: null };
  return {
    min: rounded(Math.min(...values.map(({ min }) => min))),
    avg: rounded(values.reduce((sum, { mean, samples }) => sum + mean * samples, 0) / samples),
    max: rounded(Math.max(...values.map(({ max }) => max))),
  };
}

/** Two decimals. */
export const rounded = <Value extends number | null>(value: Value): Value =>
  (value === null ? null : Math.round(value * 100) / 100) as Value;

const secondsOf = (time: string) => Math.floor(Date.parse(time) / 1000);

function rangeSeconds(range: string): number {
  return Number(range.slice(0, -1)) * UNIT_S[range.at(-1) as keyof typeof UNIT_S];
}
