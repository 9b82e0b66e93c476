/** The `sla_breaches` table: periods with more downtime than their target allows. @module */

import { number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";
import { knownUptime } from "./sla_periods.ts";

const breaches = table("sla_breaches", {
  id: text(),
  sla_id: text(),
  /** A period has at most one breach. */
  period_id: text(),
  /** When the downtime exceeded the budget; ISO 8601, UTC. */
  breached_at: text(),
  /** Percent of the known time; `null` where too little was known. */
  actual_uptime: number<number | null>(),
  /** Percent of the elapsed time that was known. */
  coverage_percent: number(),
  target_uptime: number(),
  total_downtime_seconds: number(),
}, { order: "breached_at DESC, id" });

/** One breach as stored; the figures are as of its detection. */
export type SlaBreach = Row<typeof breaches>;

/** Newest first; of one definition, or of all. */
export function selectSlaBreaches(
  db: Database,
  { slaId, ...page }: Page & { slaId: string | undefined },
): SlaBreach[] {
  return breaches.page(db, page, whereSla(slaId), { ...(slaId !== undefined && { slaId }) }).map((
    breach,
  ) => ({ ...breach, actual_uptime: knownUptime(breach) }));
}

/** Of one definition, or of all. */
export function countSlaBreaches(db: Database, slaId: string | undefined): number {
  return breaches.countWhere(db, whereSla(slaId), { ...(slaId !== undefined && { slaId }) });
}

export function hasSlaBreach(db: Database, periodId: string): boolean {
  return breaches.countWhere(db, "WHERE period_id = :periodId", { periodId }) > 0;
}

export function insertSlaBreach(db: Database, breach: SlaBreach): void {
  breaches.insert(db, { ...breach, actual_uptime: breach.actual_uptime ?? 100 });
}

const whereSla = (slaId: string | undefined) => slaId === undefined ? "" : "WHERE sla_id = :slaId";
