/**
 * Maintenance mode, kept across restarts.
 *
 * @module
 */

import { selectSetting, upsertSetting } from "../../db/ce/settings.ts";
import type { StateDatabase } from "../../db/database.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { type MaintenanceState, NO_MAINTENANCE } from "../state/maintenance.ts";

const SETTING = "maintenance";

/** What was set before the last end of the service. */
export function storedMaintenance(db: StateDatabase): MaintenanceState {
  const text = selectSetting(db, SETTING);
  return text === undefined ? NO_MAINTENANCE : JSON.parse(text);
}

/** @throws {AppError} `invalid` for an end that lies in the past. */
export function setMaintenance(
  { db, maintenance, now }: Pick<Deps, "db" | "maintenance" | "now">,
  { enabled, until, reason }: {
    enabled: boolean;
    until?: string | null | undefined;
    reason?: string | null | undefined;
  },
): MaintenanceState {
  if (enabled && until && new Date(until) <= now()) {
    throw new AppError("invalid", `body.until: ${until} is in the past`);
  }
  const state = enabled
    ? {
      enabled,
      until: until ? new Date(until).toISOString() : null,
      reason: reason || null,
    }
    : NO_MAINTENANCE;
  upsertSetting(db, SETTING, JSON.stringify(state));
  maintenance.set(state);
  return state;
}
