/**
 * The `sla_breaches` table: when a period had more downtime than its target allows.
 *
 * @module
 */

import type { Database } from "../database.ts";
import { knownUptime } from "./sla_periods.ts";

/** One breach as stored; the figures are those of the moment at which it was noticed. */
export interface SlaBreach {
  id: string;
  sla_id: string;
  /** Each period is breached once. */
  period_id: string;
  /** When the downtime exceeded the budget; ISO 8601, UTC. */
  breached_at: string;
  /** Percent of the known time; `null` where too little was known. */
  actual_uptime: number | null;
  /** Percent of the elapsed time that was known. */
  coverage_percent: number;
  target_uptime: number;
  total_downtime_seconds: number;
}

const COLUMNS = `
  id, sla_id, period_id, breached_at, actual_uptime, target_uptime, total_downtime_seconds,
  coverage_percent`;

const fromRow = (row: SlaBreach): SlaBreach => ({ ...row, actual_uptime: knownUptime(row) });

/** Newest first; of one definition, or of all. */
export function selectSlaBreaches(
  db: Database,
  { slaId, limit, offset }: { slaId: string | undefined; limit: number; offset: number },
): SlaBreach[] {
  const rows = slaId === undefined
    ? db.all<SlaBreach>(
      `SELECT ${COLUMNS} FROM sla_breaches
       ORDER BY breached_at DESC, id LIMIT :limit OFFSET :offset`,
      { limit, offset },
    )
    : db.all<SlaBreach>(
      `SELECT ${COLUMNS} FROM sla_breaches WHERE sla_id = :slaId
       ORDER BY breached_at DESC, id LIMIT :limit OFFSET :offset`,
      { slaId, limit, offset },
    );
  return rows.map(fromRow);
}

/** Of one definition, or of all. */
export function countSlaBreaches(db: Database, slaId: string | undefined): number {
  const { n } = slaId === undefined
    ? db.get<{ n: number }>("SELECT count(*) AS n FROM sla_breaches")!
    : db.get<{ n: number }>(
      "SELECT count(*) AS n FROM sla_breaches WHERE sla_id = :slaId",
      { slaId },
    )!;
  return n;
}

export function hasSlaBreach(db: Database, periodId: string): boolean {
  return db.get("SELECT 1 FROM sla_breaches WHERE period_id = :periodId", { periodId }) !==
    undefined;
}

export function insertSlaBreach(db: Database, breach: SlaBreach): void {
  db.run(
    `INSERT INTO sla_breaches (${COLUMNS})
     VALUES (:id, :sla_id, :period_id, :breached_at, :actual_uptime, :target_uptime,
       :total_downtime_seconds, :coverage_percent)`,
    { ...breach, actual_uptime: breach.actual_uptime ?? 100 },
  );
}
