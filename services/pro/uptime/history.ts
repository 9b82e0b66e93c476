/**
 * The history of monitors: when each was down, and when its state was known. It is the basis of
 * SLAs, statistics and status pages.
 *
 * The state is unknown before the first check, after the deletion, during a pause, and while the
 * service did not check because it was stopped or had no license. Unknown time does not count as
 * downtime, even during an open outage.
 *
 * @module
 */

import { selectMonitorGaps, selectMonitorLives } from "../../../db/pro/uptime/monitor_times.ts";
import { selectOutages } from "../../../db/pro/uptime/outages.ts";
import { type LatestCheck, selectLatestChecksOf } from "../../../db/pro/uptime/latest.ts";
import type { Deps } from "../../deps.ts";
import { clip, type Interval, subtract } from "./intervals.ts";

/**
 * Longest delay of a check that leaves no gap, in milliseconds: a restart is not a gap.
 */
const LATE_MS = 2 * 60 * 1000;

/** The history of a monitor, in Unix milliseconds. */
export interface MonitorHistory {
  known: Interval[];
  down: Interval[];
}

/** Whether a check at this time would leave a gap after the last one. */
export function isLate({ knownUntil }: Pick<LatestCheck, "knownUntil">, at: Date): boolean {
  return at.getTime() > knownUntil + LATE_MS;
}

/**
 * The history of each monitor between `from` and `to`, oldest first, by monitor ID. An open outage
 * ends at `to`. Deleted monitors are included.
 *
 * @param to No later than now.
 */
export function loadHistory(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  monitorIds: readonly string[],
  from: Date,
  to: Date,
): Map<string, MonitorHistory> {
  const bounds = { start: from.getTime(), end: to.getTime() };
  const range = { monitorIds, from: from.toISOString(), to: to.toISOString() };
  const outages = Map.groupBy(selectOutages(db, range), (outage) => outage.monitorId);
  const gaps = Map.groupBy(selectMonitorGaps(db, range), (gap) => gap.monitorId);
  const lives = new Map(selectMonitorLives(db, monitorIds).map((life) => [life.monitorId, life]));
  const checks = selectLatestChecksOf(metrics, monitorIds);
  const latest = new Map(checks.map((check) => [check.monitorId, check]));

  return new Map(monitorIds.map((id) => {
    const life = lives.get(id);
    const unknown = (gaps.get(id) ?? []).map(({ startedAt, endedAt }) => ({
      start: Date.parse(startedAt),
      end: endedAt === null ? Infinity : Date.parse(endedAt),
    }));
    // The next check is overdue and will record this gap.
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
