/**
 * When monitors were down, and of which times that is known at all. What agreements, statistics
 * and status pages compute with.
 *
 * Unknown is the time before the first check, after the deletion, in a pause, and the time in
 * which the service did not check (it was stopped, or its license had ended). In unknown time
 * nothing is down, not even while an outage is open.
 *
 * @module
 */

import { selectMonitorGaps, selectMonitorLives } from "../../db/pro/monitor_times.ts";
import { selectOutages } from "../../db/pro/outages.ts";
import { type LatestCheck, selectLatestChecks } from "../../db/pro/uptime_latest.ts";
import type { Deps } from "../deps.ts";
import { clip, type Interval, subtract } from "./intervals.ts";

/**
 * How much later than due a check may come and still join up with the one before, in
 * milliseconds: a restart is no gap.
 */
const LATE_MS = 2 * 60 * 1000;

/** A time from `start` up to, and without, `end`. */
export interface Span {
  start: Date;
  end: Date;
}

/** Of one monitor; Unix milliseconds. */
export interface MonitorTimes {
  known: Interval[];
  down: Interval[];
}

/**
 * The times in which each of the monitors was down, oldest first, within `from` and `to`. An
 * outage that goes on ends at `to`. Those of several monitors may overlap. Deleted monitors count.
 *
 * @param to No later than now.
 */
export function downtimeOf(
  deps: Pick<Deps, "db" | "metrics">,
  monitorIds: readonly string[],
  from: Date,
  to: Date,
): Span[] {
  return spans(timesOf(deps, monitorIds, from, to), "down");
}

/**
 * The times in which the state of each of the monitors was known, oldest first, within `from` and
 * `to`. Those of several monitors may overlap: of two that are known throughout there are two.
 *
 * @param to No later than now.
 */
export function knownOf(
  deps: Pick<Deps, "db" | "metrics">,
  monitorIds: readonly string[],
  from: Date,
  to: Date,
): Span[] {
  return spans(timesOf(deps, monitorIds, from, to), "known");
}

/** Whether a check at this time would come too late to join up with the last one. */
export function isLate({ knownUntil }: Pick<LatestCheck, "knownUntil">, at: Date): boolean {
  return at.getTime() > knownUntil + LATE_MS;
}

/** Both for each monitor by its id. */
export function timesOf(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  monitorIds: readonly string[],
  from: Date,
  to: Date,
): Map<string, MonitorTimes> {
  const bounds = { start: from.getTime(), end: to.getTime() };
  const range = { monitorIds, from: from.toISOString(), to: to.toISOString() };
  const outages = Map.groupBy(selectOutages(db, range), (outage) => outage.monitorId);
  const gaps = Map.groupBy(selectMonitorGaps(db, range), (gap) => gap.monitorId);
  const lives = new Map(selectMonitorLives(db, monitorIds).map((life) => [life.monitorId, life]));
  const latest = new Map(selectLatestChecks(metrics).map((check) => [check.monitorId, check]));

  return new Map(monitorIds.map((id) => {
    const life = lives.get(id);
    const unknown = (gaps.get(id) ?? []).map(({ startedAt, endedAt }) => ({
      start: Date.parse(startedAt),
      end: endedAt === null ? Infinity : Date.parse(endedAt),
    }));
    // Nobody has checked since: the next check will write the gap down.
    const last = latest.get(id);
    if (last && isLate(last, to)) unknown.push({ start: last.knownUntil, end: Infinity });
    const times = {
      known: life === undefined ? [] : [{
        start: Date.parse(life.knownFrom),
        end: life.deletedAt === null ? Infinity : Date.parse(life.deletedAt),
      }],
      down: (outages.get(id) ?? []).map(({ startedAt, resolvedAt }) => ({
        start: Date.parse(startedAt),
        end: resolvedAt === null ? Infinity : Date.parse(resolvedAt),
      })),
    };
    return [id, {
      known: subtract(clip(times.known, bounds), unknown),
      down: subtract(clip(times.down, bounds), unknown),
    }];
  }));
}

function spans(times: Map<string, MonitorTimes>, which: keyof MonitorTimes): Span[] {
  return [...times.values()]
    .flatMap((each) => each[which])
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => ({ start: new Date(start), end: new Date(end) }));
}
