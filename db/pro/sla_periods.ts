/** The `sla_periods` table: the measured uptime of each month or week. @module */

import { boolean, number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";
import type { PeriodType } from "./sla_definitions.ts";

export const PERIOD_STATUSES = ["current", "closed"] as const;
type PeriodStatus = (typeof PERIOD_STATUSES)[number];

/** Percent of the elapsed time that must be known; below it the uptime is unknown. */
export const COVERAGE_MIN_PERCENT = 1;

const periods = table("sla_periods", {
  id: text(),
  sla_id: text(),
  period_type: text<PeriodType>(),
  /** `YYYY-MM-DD`. */
  start_date: text(),
  /** The last day, inclusive, `YYYY-MM-DD`. */
  end_date: text(),
  /** Percent; that of the definition when the period was last calculated. */
  target_uptime: number(),
  /** Percent of the known time; `null` below {@linkcode COVERAGE_MIN_PERCENT}. */
  actual_uptime: number<number | null>(),
  total_downtime_seconds: number(),
  /** Percent of the elapsed time that is known. */
  coverage_percent: number(),
  is_breached: boolean(),
  status: text<PeriodStatus>(),
  /** The time of the figures; ISO 8601, UTC. */
  calculated_at: text(),
}, { order: "start_date DESC, end_date DESC" });

/** One period as stored. */
export type SlaPeriod = Row<typeof periods>;

/** Identifies a period of a definition. */
type PeriodKey = Pick<SlaPeriod, "sla_id" | "period_type" | "start_date">;

const fromStored = (period: SlaPeriod): SlaPeriod => ({
  ...period,
  actual_uptime: knownUptime(period),
});

const toStored = (period: SlaPeriod): SlaPeriod => ({
  ...period,
  actual_uptime: period.actual_uptime ?? 100,
});

/** The column cannot hold NULL, so the coverage decides whether its value is valid. */
export function knownUptime(
  { actual_uptime, coverage_percent }: Pick<SlaPeriod, "actual_uptime" | "coverage_percent">,
): number | null {
  return coverage_percent < COVERAGE_MIN_PERCENT ? null : actual_uptime;
}

/** The periods of a definition, newest first. */
export function selectSlaPeriods(db: Database, slaId: string, page: Page): SlaPeriod[] {
  return periods.page(db, page, "WHERE sla_id = :slaId", { slaId }).map(fromStored);
}

export function countSlaPeriods(db: Database, slaId: string): number {
  return periods.countWhere(db, "WHERE sla_id = :slaId", { slaId });
}

/** One period, or `undefined`. */
export function selectSlaPeriod(
  db: Database,
  { sla_id, period_type, start_date }: PeriodKey,
): SlaPeriod | undefined {
  const period = periods.selectOne(
    db,
    "WHERE sla_id = :sla_id AND period_type = :period_type AND start_date = :start_date",
    { sla_id, period_type, start_date },
  );
  return period && fromStored(period);
}

/** The periods of a definition that are current or ended on `date` or later, oldest first. */
export function selectUnsettledPeriods(db: Database, slaId: string, date: string): SlaPeriod[] {
  return periods.select(
    db,
    `WHERE sla_id = :slaId AND (status = 'current' OR end_date >= :date)
     ORDER BY start_date, end_date`,
    { slaId, date },
  ).map(fromStored);
}

/** The period with that key, or the last one before it, or `undefined`. */
export function selectLastPeriod(
  db: Database,
  { sla_id, period_type, start_date }: PeriodKey,
): SlaPeriod | undefined {
  const period = periods.selectOne(
    db,
    `WHERE sla_id = :sla_id AND period_type = :period_type AND start_date <= :start_date
     ORDER BY start_date DESC LIMIT 1`,
    { sla_id, period_type, start_date },
  );
  return period && fromStored(period);
}

export function insertSlaPeriod(db: Database, period: SlaPeriod): void {
  periods.insert(db, toStored(period));
}

export function updateSlaPeriod(db: Database, period: SlaPeriod): void {
  periods.update(db, period.id, toStored(period));
}
