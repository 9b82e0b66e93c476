/** Ages of backups and drills, from what is stored about them. @module */

import { selectLastGoodDrills } from "../../db/backup_drills.ts";
import { selectLastStackBackups } from "../../db/last_backups.ts";
import type { Deps } from "../deps.ts";
import { type Family, labelValue, metric } from "./family.ts";

/** Of the stacks that still exist. */
export function backupFamilies(
  { db, inventory, now }: Pick<Deps, "db" | "inventory" | "now">,
): Family[] {
  const stacks = new Set(inventory.list().map(({ composeProject }) => composeProject));
  const agesOf = (times: readonly { stack: string | null; at: string }[]) =>
    times.filter(({ stack }) => stacks.has(stack)).map(({ stack, at }) => ({
      labels: { stack: labelValue(stack!) },
      value: Math.max(0, (now().getTime() - Date.parse(at)) / 1000),
    }));
  return [
    metric(
      "longshore_backup_age_seconds",
      "Time since the last successful backup of a stack; missing if there was none",
      agesOf(selectLastStackBackups(db)),
    ),
    metric(
      "longshore_drill_age_seconds",
      "Time since the restore of a stack was last tried out with success; missing if it was not",
      agesOf(selectLastGoodDrills(db)),
    ),
  ];
}
