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

import { selectMonitorGaps, selectMonitorLives } from "../../../db/pro/uptime/monitor_times.ts";
import { selectOutages } from "../../../db/pro/uptime/outages.ts";
import { type LatestCheck, selectLatestChecks } from "../../../db/pro/uptime/latest.ts";
import type { Deps } from "../../deps.ts";
import { clip, type Interval, subtract } from "./intervals.ts";

/**
 * How much later than due a check may come and still join up with the one before, in
 * milliseconds: a restart is no gap.
 */
const LATE_MS = 2 * 60 * 1000;

/** Of one monitor; Unix milliseconds. */
export interface MonitorTimes {
  known: Interval[];
  down: Interval[];
}

/** Whether a check at this time would come too late to join up with the last one. */
export function isLate({ knownUntil }: Pick<LatestCheck, "knownUntil">, at: Date): boolean {
  return at.getTime() > knownUntil + LATE_MS;
}

/**
 * When each of the monitors was down and when that was known, oldest first, within `from` and `to`,
 * by the monitor's id. An outage that goes on ends at `to`. Deleted monitors count.
 *
 * @param to No later than now.
 */
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
