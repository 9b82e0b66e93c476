/**
 * The `sla_periods` table: what became of the promised uptime, month by month or week by week.
 *
 * @module
 */

import type { Database } from "../database.ts";
import type { PeriodType } from "./sla_definitions.ts";

export const PERIOD_STATUSES = ["current", "closed"] as const;
export type PeriodStatus = (typeof PERIOD_STATUSES)[number];

/** Percent of the elapsed time that must be known; below it the uptime is unknown. */
export const COVERAGE_MIN_PERCENT = 1;

/** What is counted of a period, as of `calculated_at` (ISO 8601, UTC). */
export interface PeriodFigures {
  /** Percent of the known time; `null` below {@linkcode COVERAGE_MIN_PERCENT}. */
  actual_uptime: number | null;
  total_downtime_seconds: number;
  /** How much of the time that had elapsed is known. */
  coverage_percent: number;
  is_breached: boolean;
  calculated_at: string;
}

/** One period as stored. */
export interface SlaPeriod extends PeriodFigures {
  id: string;
  sla_id: string;
  period_type: PeriodType;
  /** `YYYY-MM-DD`. */
  start_date: string;
  /** The last day that belongs to it, `YYYY-MM-DD`. */
  end_date: string;
  /** Percent; that of the definition when the period was last counted. */
  target_uptime: number;
  status: PeriodStatus;
}

/** Which of the periods of a definition is meant. */
export type PeriodKey = Pick<SlaPeriod, "sla_id" | "period_type" | "start_date">;

const COLUMNS = `
  id, sla_id, period_type, start_date, end_date, target_uptime, actual_uptime,
  total_downtime_seconds, coverage_percent, is_breached, status, calculated_at`;

type Row = Omit<SlaPeriod, "is_breached"> & { is_breached: number };

const fromRow = (row: Row): SlaPeriod => ({
  ...row,
  actual_uptime: knownUptime(row),
  is_breached: row.is_breached === 1,
});

/** The column cannot hold NULL, so the coverage says whether its value means something. */
export function knownUptime(
  { actual_uptime, coverage_percent }: Pick<PeriodFigures, "actual_uptime" | "coverage_percent">,
): number | null {
  return coverage_percent < COVERAGE_MIN_PERCENT ? null : actual_uptime;
}

/** The periods of a definition, newest first. */
export function selectSlaPeriods(
  db: Database,
  slaId: string,
  { limit, offset }: { limit: number; offset: number },
): SlaPeriod[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM sla_periods WHERE sla_id = :slaId
     ORDER BY start_date DESC, end_date DESC LIMIT :limit OFFSET :offset`,
    { slaId, limit, offset },
  ).map(fromRow);
}

export function countSlaPeriods(db: Database, slaId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM sla_periods WHERE sla_id = :slaId",
    { slaId },
  )!.n;
}

/** One period, or `undefined` where there is none. */
export function selectSlaPeriod(
  db: Database,
  { sla_id, period_type, start_date }: PeriodKey,
): SlaPeriod | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM sla_periods
     WHERE sla_id = :sla_id AND period_type = :period_type AND start_date = :start_date`,
    { sla_id, period_type, start_date },
  );
  return row && fromRow(row);
}

/** The periods of a definition that are still counted or ended on `date` or later, oldest first. */
export function selectUnsettledPeriods(db: Database, slaId: string, date: string): SlaPeriod[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM sla_periods
     WHERE sla_id = :slaId AND (status = 'current' OR end_date >= :date)
     ORDER BY start_date, end_date`,
    { slaId, date },
  ).map(fromRow);
}

/** The period with that key, else the last one before it, or `undefined`. */
export function selectLastPeriod(
  db: Database,
  { sla_id, period_type, start_date }: PeriodKey,
): SlaPeriod | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM sla_periods
     WHERE sla_id = :sla_id AND period_type = :period_type AND start_date <= :start_date
     ORDER BY start_date DESC LIMIT 1`,
    { sla_id, period_type, start_date },
  );
  return row && fromRow(row);
}

export function insertSlaPeriod(db: Database, period: SlaPeriod): void {
  db.run(
    `INSERT INTO sla_periods
       (id, sla_id, period_type, start_date, end_date, target_uptime, actual_uptime,
        total_downtime_seconds, coverage_percent, is_breached, status, calculated_at)
     VALUES
       (:id, :sla_id, :period_type, :start_date, :end_date, :target_uptime, :actual_uptime,
        :total_downtime_seconds, :coverage_percent, :is_breached, :status, :calculated_at)`,
    {
      ...period,
      actual_uptime: period.actual_uptime ?? 100,
      is_breached: Number(period.is_breached),
    },
  );
}

/** Stores what was counted of a period, with the target and the status that it was counted for. */
export function updateSlaPeriod(
  db: Database,
  { sla_id: _, period_type: __, start_date: ___, end_date: ____, ...figures }: SlaPeriod,
): void {
  db.run(
    `UPDATE sla_periods SET target_uptime = :target_uptime, actual_uptime = :actual_uptime,
       total_downtime_seconds = :total_downtime_seconds, coverage_percent = :coverage_percent,
       is_breached = :is_breached, status = :status, calculated_at = :calculated_at
     WHERE id = :id`,
    {
      ...figures,
      actual_uptime: figures.actual_uptime ?? 100,
      is_breached: Number(figures.is_breached),
    },
  );
}
