/**
 * Periods of SLA definitions. A period is opened when it begins, recalculated while it runs and
 * closed when it is over. A breach is recorded when the downtime exceeds the budget.
 *
 * @module
 */

import type { Page, Paged } from "../../../db/page.ts";
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
import { yieldToEventLoop } from "../../waiting.ts";
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
import { loadHistory } from "../uptime/history.ts";

export { PERIOD_STATUSES } from "../../../db/pro/sla_periods.ts";

/**
 * Time for which a closed period is still recalculated, in milliseconds: an outage is recorded only
 * after several failures in a row, the first of which may be before the end of the period.
 */
const SETTLE_MS = 2 * 24 * 60 * 60 * 1000;

/** Missed periods that are opened after a downtime of the service: ten years of weeks. */
const MISSED_MAX = 520;

export type PeriodDeps = EmitDeps & Pick<Deps, "metrics">;

/** A period with the data that its figures are based on. */
export interface CalculatedPeriod {
  period: SlaPeriod;
  progress: Progress;
  /** In order, without overlap; Unix milliseconds. */
  downtime: Interval[];
}

/** Recalculates the periods of every definition. */
export async function recalculateAll(deps: PeriodDeps, signal: AbortSignal): Promise<void> {
  await recalculateEach(deps, selectSlaDefinitions(deps.db), signal);
}

/** Recalculates the periods of the definitions that contain a monitor. */
export async function recalculateMonitor(
  deps: PeriodDeps,
  monitorId: string,
  signal: AbortSignal,
): Promise<void> {
  await recalculateEach(deps, selectSlaDefinitionsOf(deps.db, monitorId), signal);
}

/** Yields to the event loop after each definition, so that requests are not delayed. */
async function recalculateEach(
  deps: PeriodDeps,
  definitions: readonly SlaDefinition[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of definitions) {
    if (signal.aborted) return;
    // Read again: a request may have changed or deleted the definition.
    const definition = selectSlaDefinition(deps.db, id);
    if (definition) recalculatePeriods(deps, definition);
    await yieldToEventLoop();
  }
}

/**
 * Opens the current period of a definition and any missed ones, recalculates the recent ones, and
 * closes those that are over.
 */
export function recalculatePeriods(deps: PeriodDeps, definition: SlaDefinition): void {
  const { db, now } = deps;
  openPeriods(deps, definition);
  const settledBefore = new Date(now().getTime() - SETTLE_MS).toISOString().slice(0, 10);
  const changedAt = Date.parse(definition.updated_at);
  for (const stored of selectUnsettledPeriods(db, definition.id, settledBefore)) {
    const { end } = intervalOf(stored);
    // A closed period keeps the settings of its time, also after the clock was set back.
    if (stored.status === "closed" && (changedAt >= end || now().getTime() < end)) continue;
    const calculated = calculatePeriod(deps, definition, stored);
    if (isNewBreach(db, calculated.period)) recordBreach(deps, definition, calculated);
    else if (hasNewFigures(stored, calculated.period)) updateSlaPeriod(db, calculated.period);
  }
}

/** Calculates the current period. Stores it only if it is new or newly breached. */
export function currentPeriod(deps: PeriodDeps, definition: SlaDefinition): CalculatedPeriod {
  const { db, now } = deps;
  openPeriods(deps, definition);
  const stored = selectSlaPeriod(db, {
    sla_id: definition.id,
    period_type: definition.period_type,
    start_date: datesOf(periodAt(definition.period_type, now())).start_date,
  })!;
  const calculated = calculatePeriod(deps, definition, stored);
  if (isNewBreach(db, calculated.period)) recordBreach(deps, definition, calculated);
  return calculated;
}

/** The periods of a definition, newest first, with live figures for the current one. */
export function listPeriods(
  deps: PeriodDeps,
  definition: SlaDefinition,
  page: Page,
): { periods: SlaPeriod[] } & Paged {
  const { db } = deps;
  const { period: current } = currentPeriod(deps, definition);
  const periods = selectSlaPeriods(db, definition.id, page)
    .map((period) => period.id === current.id ? current : period);
  return { periods, total: countSlaPeriods(db, definition.id), ...page };
}

/** Calculates a period as of now; stores nothing. */
function calculatePeriod(
  { db, metrics, now }: Pick<PeriodDeps, "db" | "metrics" | "now">,
  { monitor_ids, target_uptime }: SlaDefinition,
  stored: SlaPeriod,
): CalculatedPeriod {
  const at = now();
  const period = intervalOf(stored);
  const elapsed = elapsedOf(period, at.getTime());
  const monitors = [
    ...loadHistory({ db, metrics }, monitor_ids, new Date(elapsed.start), new Date(elapsed.end))
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

/** Opens the current period and the missed ones since the last. */
function openPeriods({ db, now }: Pick<Deps, "db" | "now">, definition: SlaDefinition): void {
  const { id: sla_id, period_type, target_uptime, updated_at } = definition;
  const current = periodAt(period_type, now());
  const { start_date } = datesOf(current);
  const last = selectLastPeriod(db, { sla_id, period_type, start_date });
  if (last?.start_date === start_date) return;
  // The first period is the one in which the definition got its period type.
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

/** The periods from `since` to the current one, inclusive; limited to the newest. */
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

/** Stores the period with its breach and publishes the event. */
function recordBreach(
  deps: PeriodDeps,
  definition: SlaDefinition,
  { period, downtime }: CalculatedPeriod,
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

/** No await may follow before the write, so that a breach is recorded once. */
const isNewBreach = (db: Deps["db"], { id, is_breached }: SlaPeriod): boolean =>
  is_breached && !hasSlaBreach(db, id);

/** Whether anything but the time of the calculation differs. */
function hasNewFigures(before: SlaPeriod, after: SlaPeriod): boolean {
  return JSON.stringify({ ...before, calculated_at: "" }) !==
    JSON.stringify({ ...after, calculated_at: "" });
}
