/**
 * Periods of SLA definitions: opened when one begins, counted while it runs, closed when it is
 * over, and the breach where the downtime exceeds what the target allows.
 *
 * @module
 */

import { hasSlaBreach, insertSlaBreach, type SlaBreach } from "../../../db/pro/sla_breaches.ts";
import {
  selectSlaDefinition,
  selectSlaDefinitions,
  selectSlaDefinitionsOf,
  type SlaDefinition,
} from "../../../db/pro/sla_definitions.ts";
import {
  countSlaPeriods,
  insertSlaPeriod,
  selectLastPeriod,
  selectSlaPeriod,
  selectSlaPeriods,
  selectUnsettledPeriods,
  type SlaPeriod,
  updateSlaPeriod,
} from "../../../db/pro/sla_periods.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { type Interval, totalMs, union } from "../uptime/intervals.ts";
import {
  budgetMs,
  budgetOf,
  coveragePercent,
  datesOf,
  elapsedOf,
  exceededAt,
  intervalOf,
  periodAt,
  type Progress,
  uptimePercent,
} from "./math.ts";
import { timesOf } from "../uptime/history.ts";

export { PERIOD_STATUSES } from "../../../db/pro/sla_periods.ts";

/**
 * How long after its end a period is still counted again, in milliseconds: a monitor is down only
 * after several failures in a row, the first of which may lie before the end.
 */
const SETTLE_MS = 2 * 24 * 60 * 60 * 1000;

/** Most periods that are made up for after the service was down: ten years of weeks. */
const MISSED_MAX = 520;

/** What counting and keeping periods needs. */
export type PeriodDeps = EmitDeps & Pick<Deps, "metrics">;

/** A period with what its figures are made of. */
export interface CountedPeriod {
  period: SlaPeriod;
  progress: Progress;
  /** In order, without overlap; Unix milliseconds. */
  downtime: Interval[];
}

/** Recalculates the periods of every definition. */
export async function recalculateAll(deps: PeriodDeps, signal: AbortSignal): Promise<void> {
  await recalculateEach(deps, selectSlaDefinitions(deps.db), signal);
}

/** Those of the definitions that name a monitor whose state has just changed. */
export async function recalculateMonitor(
  deps: PeriodDeps,
  monitorId: string,
  signal: AbortSignal,
): Promise<void> {
  await recalculateEach(deps, selectSlaDefinitionsOf(deps.db, monitorId), signal);
}

/** One definition after the other: requests get their turn in between. */
async function recalculateEach(
  deps: PeriodDeps,
  definitions: readonly SlaDefinition[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of definitions) {
    if (signal.aborted) return;
    // Read again: it may have been changed or deleted meanwhile.
    const definition = selectSlaDefinition(deps.db, id);
    if (definition) recalculatePeriods(deps, definition);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/**
 * Opens the current period of a definition and those that the service missed, counts what is not
 * settled yet, and closes what is over.
 */
export function recalculatePeriods(deps: PeriodDeps, definition: SlaDefinition): void {
  const { db, now } = deps;
  openPeriods(deps, definition);
  const settled = new Date(now().getTime() - SETTLE_MS).toISOString().slice(0, 10);
  const changedAt = Date.parse(definition.updated_at);
  for (const stored of selectUnsettledPeriods(db, definition.id, settled)) {
    const { end } = intervalOf(stored);
    // What is over belongs to the definition as it was then, also when the clock was set back.
    if (stored.status === "closed" && (changedAt >= end || now().getTime() < end)) continue;
    const counted = countPeriod(deps, definition, stored);
    if (isNewBreach(db, counted.period)) recordBreach(deps, definition, counted);
    else if (hasOtherFigures(stored, counted.period)) updateSlaPeriod(db, counted.period);
  }
}

/**
 * The current period as it is at this moment. Writes only where the period is new, or where it is
 * seen to be breached.
 */
export function currentPeriod(deps: PeriodDeps, definition: SlaDefinition): CountedPeriod {
  const { db, now } = deps;
  openPeriods(deps, definition);
  const stored = selectSlaPeriod(db, {
    sla_id: definition.id,
    period_type: definition.period_type,
    start_date: datesOf(periodAt(definition.period_type, now())).start_date,
  })!;
  const counted = countPeriod(deps, definition, stored);
  if (isNewBreach(db, counted.period)) recordBreach(deps, definition, counted);
  return counted;
}

/** The periods of a definition, newest first; the current one as it is at this moment. */
export function listPeriods(
  deps: PeriodDeps,
  definition: SlaDefinition,
  { limit, offset }: { limit: number; offset: number },
): { periods: SlaPeriod[]; total: number; limit: number; offset: number } {
  const { db } = deps;
  const { period: current } = currentPeriod(deps, definition);
  const periods = selectSlaPeriods(db, definition.id, { limit, offset })
    .map((period) => period.id === current.id ? current : period);
  return { periods, total: countSlaPeriods(db, definition.id), limit, offset };
}

/** Counts a period as it is at this moment; writes nothing. */
function countPeriod(
  { db, metrics, now }: Pick<PeriodDeps, "db" | "metrics" | "now">,
  { monitor_ids, target_uptime }: SlaDefinition,
  stored: SlaPeriod,
): CountedPeriod {
  const at = now();
  const period = intervalOf(stored);
  const elapsed = elapsedOf(period, at.getTime());
  const monitors = [
    ...timesOf({ db, metrics }, monitor_ids, new Date(elapsed.start), new Date(elapsed.end))
      .values(),
  ];
  const downtime = union(monitors.flatMap(({ down }) => down));
  const targetUptime = stored.status === "closed" ? stored.target_uptime : target_uptime;
  const progress = { period, elapsed, downtimeMs: totalMs(downtime), targetUptime };
  const known = monitors.map(({ known }) => known);
  return {
    period: {
      ...stored,
      target_uptime: targetUptime,
      actual_uptime: uptimePercent(known, progress),
      total_downtime_seconds: Math.round(progress.downtimeMs / 1000),
      coverage_percent: coveragePercent(known, elapsed),
      is_breached: budgetOf(progress).is_breached,
      status: at.getTime() >= period.end ? "closed" : stored.status,
      calculated_at: at.toISOString(),
    },
    progress,
    downtime,
  };
}

/** Opens the current period and, where others were before, those in between. */
function openPeriods({ db, now }: Pick<Deps, "db" | "now">, definition: SlaDefinition): void {
  const { id: sla_id, period_type, target_uptime, updated_at } = definition;
  const current = periodAt(period_type, now());
  const { start_date } = datesOf(current);
  const last = selectLastPeriod(db, { sla_id, period_type, start_date });
  if (last?.start_date === start_date) return;
  // The first one is that in which the definition came to have this type of periods.
  const since = last ? intervalOf(last).end : periodAt(period_type, new Date(updated_at)).start;
  db.transaction(() => {
    for (const period of periodsBetween(period_type, since, current)) {
      insertSlaPeriod(db, {
        ...datesOf(period),
        id: crypto.randomUUID(),
        sla_id,
        period_type,
        target_uptime,
        actual_uptime: null,
        total_downtime_seconds: 0,
        coverage_percent: 0,
        is_breached: false,
        status: "current",
        calculated_at: now().toISOString(),
      });
    }
  });
}

/** The periods from `since` up to and with the current one; the newest, where there are many. */
function periodsBetween(
  type: SlaPeriod["period_type"],
  since: number,
  current: Interval,
): Interval[] {
  const periods = [current];
  let { start } = current;
  while (start > since && periods.length < MISSED_MAX) {
    const before = periodAt(type, new Date(start - 1));
    periods.unshift(before);
    start = before.start;
  }
  return periods;
}

/** Stores the figures of the period together with its breach, and publishes the event. */
function recordBreach(
  deps: PeriodDeps,
  definition: SlaDefinition,
  { period, downtime }: CountedPeriod,
): void {
  const { db, now } = deps;
  const at = exceededAt(downtime, budgetMs(period.target_uptime, intervalOf(period))) ?? now();
  const { actual_uptime, coverage_percent, target_uptime, total_downtime_seconds } = period;
  const breach: SlaBreach = {
    id: crypto.randomUUID(),
    sla_id: definition.id,
    period_id: period.id,
    breached_at: at.toISOString(),
    actual_uptime,
    coverage_percent,
    target_uptime,
    total_downtime_seconds,
  };
  emit(deps, "sla.breached", {
    sla: definition.name,
    slaId: definition.id,
    periodId: period.id,
    breachId: breach.id,
    actualUptime: actual_uptime,
    targetUptime: target_uptime,
    downtimeSeconds: total_downtime_seconds,
  }, () => {
    updateSlaPeriod(db, period);
    insertSlaBreach(db, breach);
  });
}

/** Nothing is waited for between this and the write: no period is breached twice. */
const isNewBreach = (db: Deps["db"], { id, is_breached }: SlaPeriod): boolean =>
  is_breached && !hasSlaBreach(db, id);

/** Whether what was counted differs, and not only the time at which it was. */
function hasOtherFigures(before: SlaPeriod, after: SlaPeriod): boolean {
  return JSON.stringify({ ...before, calculated_at: "" }) !==
    JSON.stringify({ ...after, calculated_at: "" });
}
