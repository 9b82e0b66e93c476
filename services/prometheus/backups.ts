/** Ages of backups, from what is stored about them. @module */

import { selectLastStackBackups } from "../../db/last_backups.ts";
import type { Deps } from "../deps.ts";
import { type Family, labelValue, metric } from "./family.ts";

/** Of the stacks that still exist. */
export function backupFamilies(
  { db, inventory, now }: Pick<Deps, "db" | "inventory" | "now">,
): Family[] {
  const stacks = new Set(inventory.list().map(({ composeProject }) => composeProject));
  return [
    metric(
      "longshore_backup_age_seconds",
      "Time since the last successful backup of a stack; missing if there was none",
      selectLastStackBackups(db).filter(({ stack }) => stacks.has(stack)).map(({ stack, at }) => ({
        labels: { stack: labelValue(stack!) },
        value: Math.max(0, (now().getTime() - Date.parse(at)) / 1000),
      })),
    ),
  ];
}
