/** The time window and resolution of a history request. @module */

import type { Resolution } from "../../db/metric_samples.ts";
import { AppError } from "../errors.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** Retention period of each resolution, in seconds. */
export const RETENTION_S: Record<Resolution, number> = {
  15: 2 * DAY_S,
  60: 8 * DAY_S,
  900: 30 * DAY_S,
};

/** Limit of points in a response. */
export const POINTS_MAX = 1_000;

const DEFAULT_HOURS = 24;

/** Intervals of points in seconds, finest first, and the resolution of the rows to aggregate. */
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

/** Query parameters; only one of `hours`, `range` and `from` can be given. */
export interface WindowQuery {
  hours?: number | undefined;
  /** E.g. `90m`, `24h` or `7d`. */
  range?: string | undefined;
  /** ISO 8601, UTC. */
  from?: string | undefined;
  to?: string | undefined;
  /** Limit of points; the longest interval is an hour nevertheless. */
  points?: number | undefined;
}

/** Times are Unix seconds. */
interface Window {
  from: number;
  to: number;
  /** Interval of points, in seconds. */
  step: number;
  resolution: Resolution;
}

/**
 * The window of a request, limited to the last 30 days; by default the last 24 hours.
 *
 * @param retentionS Retention period of each resolution, in seconds.
 * @throws {AppError} `invalid`
 */
export function windowOf(
  { hours, range, from, to, points = POINTS_MAX }: WindowQuery,
  now: Date,
  retentionS: Record<Resolution, number> = RETENTION_S,
): Window {
  if ([hours, range, from].filter((each) => each !== undefined).length > 1) {
    throw new AppError("invalid", "query: give only one of hours, range and from");
  }
  const nowS = Math.floor(now.getTime() / 1000);
  const end = Math.min(nowS, to === undefined ? nowS : secondsOf(to));
  const lengthS = range === undefined ? (hours ?? DEFAULT_HOURS) * HOUR_S : rangeSeconds(range);
  const requested = from === undefined ? end - lengthS : secondsOf(from);
  const begin = Math.max(requested, nowS - RETENTION_S[900]);
  if (begin >= end) {
    throw new AppError("invalid", "query: from must be before to, within the last 30 days");
  }
  // One more point, because a window rarely begins and ends at a point.
  const { step, resolution } =
    STEPS.find(({ step, resolution }) =>
      (end - begin) / step + 1 <= points && begin >= nowS - retentionS[resolution]
    ) ?? STEPS.at(-1)!;
  return { from: begin, to: end, step, resolution };
}

/** The rows to read: the first point includes the beginning of the window. */
export function rowsOf({ from, to, step, resolution }: Window): Window {
  return { from: from - from % step, to, step, resolution };
}

/** The fields of a history that describe its window. */
export function describeWindow({ from, to, step }: Window) {
  return {
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
    hours: round2((to - from) / HOUR_S),
    resolutionSeconds: step,
  };
}

/** `null` without samples. */
export interface Summary {
  min: number | null;
  avg: number | null;
  max: number | null;
}

/** Several samples together: mean, minimum and maximum of a figure. */
type Summarized<Name extends string> =
  & { samples: number }
  & { [Key in Name | `${Name}Min` | `${Name}Max`]: number | null };

/**
 * Summarizes a figure over points with different numbers of samples.
 *
 * @param samplesOf How many samples of a point have the figure.
 */
export function summarize<Name extends string, Point extends Summarized<Name>>(
  points: readonly Point[],
  name: Name,
  samplesOf = (point: Point) => point.samples,
): Summary {
  const values = points.flatMap((point) => {
    const figure = (key: string): number | null => point[key as Name];
    const mean = figure(name);
    if (mean === null) return [];
    const [min, max] = [figure(`${name}Min`) ?? mean, figure(`${name}Max`) ?? mean];
    return { min, mean, max, samples: samplesOf(point) };
  });
  const samples = values.reduce((sum, each) => sum + each.samples, 0);
  if (samples === 0) return { min: null, avg: null, max: null };
  return {
    min: round2(Math.min(...values.map(({ min }) => min))),
    avg: round2(values.reduce((sum, { mean, samples }) => sum + mean * samples, 0) / samples),
    max: round2(Math.max(...values.map(({ max }) => max))),
  };
}

/** Rounds to two decimals. */
export const round2 = <Value extends number | null>(value: Value): Value =>
  (value === null ? null : Math.round(value * 100) / 100) as Value;

const secondsOf = (time: string) => Math.floor(Date.parse(time) / 1000);

function rangeSeconds(range: string): number {
  return Number(range.slice(0, -1)) * UNIT_S[range.at(-1) as keyof typeof UNIT_S];
}
