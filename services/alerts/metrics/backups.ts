/** Alert metrics of the backups of stacks, from what is stored about them. @module */

import { selectLastGoodDrills } from "../../../db/backup_drills.ts";
import { selectLastStackBackups } from "../../../db/last_backups.ts";
import { metric, type StackDeps } from "./kind.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

export const backupAges = [
  metric("backup_age_hours", {
    target: "stacks",
    description: "Hours since the last successful backup; a stack without one has no value",
    group: "Backups",
    words: "age of the last backup",
    name: "The age of the last backup",
    verb: "is",
    unit: "h",
    threshold: 48,
    read: (deps) =>
      agesOf(deps, selectLastStackBackups(deps.db).map(({ stack, at }) => [stack!, at]), HOUR_MS),
  }),
  metric("drill_age_days", {
    target: "stacks",
    description: "Days since a restore was last tried out with success; otherwise no value",
    group: "Backups",
    words: "age of the last drill",
    name: "The age of the last drill",
    verb: "is",
    unit: "days",
    threshold: 90,
    read: (deps) =>
      agesOf(deps, selectLastGoodDrills(deps.db).map(({ stack, at }) => [stack, at]), DAY_MS),
  }),
];

/** With one decimal. @param times ISO 8601. */
function agesOf(
  { now }: Pick<StackDeps, "now">,
  times: readonly [stack: string, at: string][],
  unitMs: number,
): ReadonlyMap<string, number> {
  const ageOf = (at: string) => Math.max(0, now().getTime() - Date.parse(at)) / unitMs;
  return new Map(times.map(([stack, at]) => [stack, Math.round(10 * ageOf(at)) / 10]));
}
