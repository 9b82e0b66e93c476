/** Maintenance mode, which survives restarts. @module */

import { selectSetting, upsertSetting } from "../../../db/settings.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type MaintenanceState, NO_MAINTENANCE, type StoredMaintenance } from "./maintenance.ts";

const SETTING = "maintenance";

/** The state before the restart. */
export function loadMaintenance(db: StateDatabase): StoredMaintenance {
  const text = selectSetting(db, SETTING);
  return text === undefined ? NO_MAINTENANCE : JSON.parse(text);
}

/**
 * Changes the mode. Disabling it also ends the windows of the host that are open.
 *
 * @throws {AppError} `invalid` if `until` is in the past.
 */
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
      since: maintenance.state.since ?? now().toISOString(),
      until: until ? new Date(until).toISOString() : null,
      reason: reason || null,
    }
    : { ...NO_MAINTENANCE, windowsEndedAt: now().toISOString() };
  upsertSetting(db, SETTING, JSON.stringify(state));
  maintenance.set(state);
  return maintenance.state;
}
