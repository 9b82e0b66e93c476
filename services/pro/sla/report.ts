/** SLA status and reports: the current period, its budget, past periods and breaches. @module */

import {
  countSlaBreaches,
  selectSlaBreaches,
  type SlaBreach,
} from "../../../db/pro/sla_breaches.ts";
import type { Page } from "../../../db/page.ts";
import type { SlaPeriod } from "../../../db/pro/sla_periods.ts";
import type { Deps } from "../../deps.ts";
import { requireSla, type SlaDefinition } from "./definitions.ts";
import { type Budget, budgetOf, burnRateByDay, burnRateOf, type BurnRatePoint } from "./math.ts";
import {
  type CalculatedPeriod,
  currentPeriod,
  listPeriods,
  type PeriodDeps,
  recalculatePeriods,
} from "./periods.ts";

/** Limit of periods and of breaches in a report; the newest are included. */
const REPORT_MAX = 100;

/** The current period with live figures. */
interface SlaStatus {
  period: SlaPeriod;
  budget: Budget;
  burn_rate: number;
}

interface SlaReport {
  definition: SlaDefinition;
  current_status: SlaStatus;
  /** Newest first, the current one included. */
  periods: SlaPeriod[];
  /** Newest first. */
  breaches: SlaBreach[];
  /** One point for each day of the current period so far. */
  burn_rate_chart: BurnRatePoint[];
}

/** @throws {AppError} `not_found`. */
export function getSla(
  deps: PeriodDeps,
  id: string,
): SlaDefinition & { current_status: SlaStatus } {
  const definition = requireSla(deps, id);
  return { ...definition, current_status: statusOf(currentPeriod(deps, definition)) };
}

/** The current period, which is opened if needed. @throws {AppError} `not_found`. */
export function getCurrentPeriod(
  deps: PeriodDeps,
  id: string,
): { period: SlaPeriod; burn_rate: number } {
  const { period, progress } = currentPeriod(deps, requireSla(deps, id));
  return { period, burn_rate: burnRateOf(progress) };
}

/** Recalculates the periods. @returns The current one. @throws {AppError} `not_found`. */
export function recalculateSla(deps: PeriodDeps, id: string): SlaPeriod {
  const definition = requireSla(deps, id);
  recalculatePeriods(deps, definition);
  return currentPeriod(deps, definition).period;
}

/** @throws {AppError} `not_found`. */
export function getSlaBudget(deps: PeriodDeps, id: string): Budget {
  return budgetOf(currentPeriod(deps, requireSla(deps, id)).progress);
}

/** Newest first, the current one included. @throws {AppError} `not_found`. */
export function listSlaPeriods(deps: PeriodDeps, id: string, page: Page) {
  return listPeriods(deps, requireSla(deps, id), page);
}

/** Breaches of all definitions or of one, which may have been deleted; newest first. */
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

/** Breaches of one definition, newest first. @throws {AppError} `not_found`. */
export function listSlaBreaches(deps: Pick<Deps, "db">, id: string, page: Page) {
  return listBreaches(deps, { ...page, sla_id: requireSla(deps, id).id });
}

/** @throws {AppError} `not_found`. */
export function reportSla(deps: PeriodDeps, id: string): SlaReport {
  const definition = requireSla(deps, id);
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

const statusOf = ({ period, progress }: CalculatedPeriod): SlaStatus => ({
  period,
  budget: budgetOf(progress),
  burn_rate: burnRateOf(progress),
});
