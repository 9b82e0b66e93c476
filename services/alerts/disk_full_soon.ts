/** Warns before the host's disk is full, whatever rules there are. @module */

import { deleteSetting, selectSetting, upsertSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import { readDiskForecast } from "./metrics/disk_forecast.ts";

/** Hours left at which the event is sent, and above which it may be sent again. */
const WARN_HOURS = 24;
const CLEAR_HOURS = 48;

/** When the event was sent; not set after the danger is over. */
const SETTING = "disk_full_soon_at";

/**
 * Emits `host.disk_full_soon` once when the disk is predicted to be full within a day, and again
 * only after it would have lasted for two days. The prediction continues during maintenance; its
 * event is sent afterwards.
 */
export function reportDiskFullSoon(
  deps: EmitDeps & Pick<Deps, "host" | "metrics">,
): void {
  const { db, host, maintenance, now } = deps;
  const { value: hoursLeft } = readDiskForecast(deps);
  const disk = host.latest?.disk;
  if (hoursLeft === undefined || !disk || maintenance.active) return;
  const isReported = selectSetting(db, SETTING) !== undefined;
  if (isReported && hoursLeft > CLEAR_HOURS) deleteSetting(db, SETTING);
  if (isReported || hoursLeft >= WARN_HOURS) return;
  const at = now();
  const fullAt = new Date(at.getTime() + hoursLeft * 3_600_000).toISOString();
  const { path, percent } = disk;
  emit(
    deps,
    "host.disk_full_soon",
    { path, percent, hoursLeft, fullAt },
    () => upsertSetting(db, SETTING, at.toISOString()),
  );
}
