/** SLA definitions: the uptime target of some monitors per month or week. @module */

import {
  countSlaDefinitions,
  deleteSlaDefinition,
  insertSlaDefinition,
  type PeriodType,
  selectSlaDefinition,
  selectSlaDefinitions,
  type SlaDefinition,
  updateSlaDefinition,
} from "../../../db/pro/sla_definitions.ts";
import { selectMonitor } from "../../../db/pro/uptime/monitors.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound, tooMany } from "../../errors.ts";
import { type PeriodDeps, recalculatePeriods } from "./periods.ts";

export { PERIOD_TYPES } from "../../../db/pro/sla_definitions.ts";
export type { SlaDefinition };

/** Limit of definitions: each is recalculated every minute. */
export const DEFINITIONS_MAX = 500;

/** The settings of a definition. */
interface SlaSettings {
  name: string;
  description: string;
  target_uptime: number;
  period_type: PeriodType;
  monitor_ids: string[];
}

/** All definitions by name. */
export function listSlaDefinitions({ db }: Pick<Deps, "db">): SlaDefinition[] {
  return selectSlaDefinitions(db);
}

/** @throws {AppError} `not_found`. */
export function requireSla({ db }: Pick<Deps, "db">, id: string): SlaDefinition {
  return requireFound(selectSlaDefinition(db, id), "SLA definition", id);
}

/**
 * Stores a new definition.
 *
 * @throws {AppError} `invalid` for an unknown monitor; `conflict` when the limit is reached.
 */
export function createSla(
  { db, now }: Pick<Deps, "db" | "now">,
  settings: SlaSettings,
): SlaDefinition {
  assertMonitorsExist(db, settings.monitor_ids);
  if (countSlaDefinitions(db) >= DEFINITIONS_MAX) throw tooMany("SLA definitions", DEFINITIONS_MAX);
  const at = now().toISOString();
  const definition: SlaDefinition = {
    ...settings,
    monitor_ids: [...new Set(settings.monitor_ids)],
    id: crypto.randomUUID(),
    created_at: at,
    updated_at: at,
  };
  db.transaction(() => insertSlaDefinition(db, definition));
  return definition;
}

/**
 * Changes a definition and recalculates the current period. Closed periods and recorded breaches
 * stay as they are.
 *
 * @throws {AppError} `not_found`; `invalid` for an unknown monitor that was not listed before.
 */
export function changeSla(
  deps: PeriodDeps,
  id: string,
  change: Change<SlaSettings>,
): SlaDefinition {
  const { db, now } = deps;
  const before = requireSla(deps, id);
  const definition = { ...applyChange(before, change), updated_at: now().toISOString() };
  definition.monitor_ids = [...new Set(definition.monitor_ids)];
  assertMonitorsExist(db, definition.monitor_ids.filter((id) => !before.monitor_ids.includes(id)));
  // A period that has just ended is closed with the old settings.
  recalculatePeriods(deps, before);
  db.transaction(() => updateSlaDefinition(db, definition));
  recalculatePeriods(deps, definition);
  return definition;
}

/** Deletes a definition with its periods and breaches. @throws {AppError} `not_found`. */
export function removeSla({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteSlaDefinition(db, id)) throw notFound("SLA definition", id);
}

function assertMonitorsExist(db: Deps["db"], ids: readonly string[]): void {
  const unknown = ids.find((id) => !selectMonitor(db, id));
  if (unknown !== undefined) {
    throw new AppError("invalid", `body.monitor_ids: uptime monitor ${unknown} does not exist`);
  }
}
