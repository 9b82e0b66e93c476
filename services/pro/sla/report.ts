/**
 * How SLA definitions stand: the current period with its budget, and the report on all of them.
 *
 * @module
 */

import {
  countSlaBreaches,
  selectSlaBreaches,
  type SlaBreach,
} from "../../../db/pro/sla_breaches.ts";
import type { SlaPeriod } from "../../../db/pro/sla_periods.ts";
import type { Deps } from "../../deps.ts";
import { existingSla, type SlaDefinition } from "./definitions.ts";
import { type Budget, budgetOf, burnRateByDay, burnRateOf, type BurnRatePoint } from "./math.ts";
import {
  type CountedPeriod,
  currentPeriod,
  listPeriods,
  type PeriodDeps,
  recalculatePeriods,
} from "./periods.ts";

/** Most periods and breaches of a report, the newest ones. */
const REPORT_MAX = 100;

/** The current period as it is at this moment. */
export interface SlaStatus {
  period: SlaPeriod;
  budget: Budget;
  burn_rate: number;
}

export interface SlaReport {
  definition: SlaDefinition;
  current_status: SlaStatus;
  /** Newest first, the current one included. */
  periods: SlaPeriod[];
  /** Newest first. */
  breaches: SlaBreach[];
  /** Of the current period, one point for each day that has begun. */
  burn_rate_chart: BurnRatePoint[];
}

interface Page {
  limit: number;
  offset: number;
}

/** @throws {AppError} `not_found`. */
export function getSla(
  deps: PeriodDeps,
  id: string,
): SlaDefinition & { current_status: SlaStatus } {
  const definition = existingSla(deps, id);
  return { ...definition, current_status: statusOf(currentPeriod(deps, definition)) };
}

/** The current period, opened where there is none. @throws {AppError} `not_found`. */
export function getCurrentPeriod(
  deps: PeriodDeps,
  id: string,
): { period: SlaPeriod; burn_rate: number } {
  const { period, progress } = currentPeriod(deps, existingSla(deps, id));
  return { period, burn_rate: burnRateOf(progress) };
}

/** Counts a definition's periods anew. @returns The current one. @throws {AppError} `not_found`. */
export function recalculateSla(deps: PeriodDeps, id: string): SlaPeriod {
  const definition = existingSla(deps, id);
  recalculatePeriods(deps, definition);
  return currentPeriod(deps, definition).period;
}

/** @throws {AppError} `not_found`. */
export function getSlaBudget(deps: PeriodDeps, id: string): Budget {
  return budgetOf(currentPeriod(deps, existingSla(deps, id)).progress);
}

/** Newest first, the current one included. @throws {AppError} `not_found`. */
export function listSlaPeriods(deps: PeriodDeps, id: string, page: Page) {
  return listPeriods(deps, existingSla(deps, id), page);
}

/** Of all definitions, or of one that need not exist; newest first. */
export function listBreaches(
  { db }: Pick<Deps, "db">,
  { sla_id: slaId, limit, offset }: Page & { sla_id?: string | undefined },
): Page & { breaches: SlaBreach[]; total: number } {
  return {
    breaches: selectSlaBreaches(db, { slaId, limit, offset }),
    total: countSlaBreaches(db, slaId),
    limit,
    offset,
  };
}

/** Of one definition, newest first. @throws {AppError} `not_found`. */
export function listSlaBreaches(deps: Pick<Deps, "db">, id: string, page: Page) {
  return listBreaches(deps, { ...page, sla_id: existingSla(deps, id).id });
}

/** @throws {AppError} `not_found`. */
export function reportSla(deps: PeriodDeps, id: string): SlaReport {
  const definition = existingSla(deps, id);
  const page = { limit: REPORT_MAX, offset: 0 };
  const current = currentPeriod(deps, definition);
  return {
    definition,
    current_status: statusOf(current),
    periods: listPeriods(deps, definition, page).periods,
    breaches: listBreaches(deps, { ...page, sla_id: id }).breaches,
    burn_rate_chart: burnRateByDay(current.downtime, current.progress),
  };
}

const statusOf = ({ period, progress }: CountedPeriod): SlaStatus => ({
  period,
  budget: budgetOf(progress),
  burn_rate: burnRateOf(progress),
});
