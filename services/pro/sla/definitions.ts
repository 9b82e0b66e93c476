/**
 * SLA definitions: which uptime is promised, of which monitors, for a month or a week.
 *
 * @module
 */

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
import { AppError, notFound } from "../../errors.ts";
import { type PeriodDeps, recalculatePeriods } from "./periods.ts";

export { PERIOD_TYPES } from "../../../db/pro/sla_definitions.ts";
export type { SlaDefinition };

/** Most definitions: each is counted every minute. */
const DEFINITIONS_MAX = 500;

/** What a user decides about a definition. */
export interface SlaSettings {
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
export function existingSla({ db }: Pick<Deps, "db">, id: string): SlaDefinition {
  const definition = selectSlaDefinition(db, id);
  if (!definition) throw notFound("SLA definition", id);
  return definition;
}

/**
 * Stores a new definition.
 *
 * @throws {AppError} `invalid` where a monitor does not exist; `conflict` where there are too many
 * definitions.
 */
export function createSla(
  { db, now }: Pick<Deps, "db" | "now">,
  settings: SlaSettings,
): SlaDefinition {
  assertMonitorsExist(db, settings.monitor_ids);
  if (countSlaDefinitions(db) >= DEFINITIONS_MAX) {
    throw new AppError("conflict", `There cannot be more than ${DEFINITIONS_MAX} SLA definitions`);
  }
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
 * Changes a definition. The current period is counted anew; what is over stays as it was, and so do
 * breaches that were written down.
 *
 * @throws {AppError} `not_found`; `invalid` where a monitor that is new to the definition does not
 * exist.
 */
export function changeSla(
  deps: PeriodDeps,
  id: string,
  change: Change<SlaSettings>,
): SlaDefinition {
  const { db, now } = deps;
  const before = existingSla(deps, id);
  const definition = { ...applyChange(before, change), updated_at: now().toISOString() };
  definition.monitor_ids = [...new Set(definition.monitor_ids)];
  assertMonitorsExist(db, definition.monitor_ids.filter((id) => !before.monitor_ids.includes(id)));
  // A period that has just ended is closed by what held in it.
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
    throw new AppError("invalid", `body.monitor_ids: there is no uptime monitor ${unknown}`);
  }
}
