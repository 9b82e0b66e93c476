/** Every kind of schedule. @module */

import { backupKind } from "./backup.ts";
import { backupPruneKind } from "./backup_prune.ts";
import { containerKind } from "./container.ts";
import { drillKind } from "./drill.ts";
import type { ScheduleAction, ScheduleKind } from "./kind.ts";
import { ownBackupScheduleKind } from "./own_backup.ts";
import { engineKind } from "./prune.ts";
import { stackKind } from "./stack.ts";

/** In the order in which they are offered. */
export const SCHEDULE_KINDS: readonly ScheduleKind[] = [
  containerKind,
  stackKind,
  backupKind,
  ownBackupScheduleKind,
  drillKind,
  engineKind,
  backupPruneKind,
];

export const SCHEDULE_KIND_IDS: readonly string[] = SCHEDULE_KINDS.map(({ id }) => id);

/** The actions of all kinds. */
export const SCHEDULE_ACTION_IDS: readonly string[] = [
  ...new Set(SCHEDULE_KINDS.flatMap(({ actions }) => actions.map(({ id }) => id))),
];

/** @throws For a kind of another version of the service, which cannot have opened this database. */
export function scheduleKind(id: string): ScheduleKind {
  const found = SCHEDULE_KINDS.find((each) => each.id === id);
  if (!found) throw new Error(`Unknown schedule kind ${id}`);
  return found;
}

/** The action of a schedule; `undefined` if its kind has no such action. */
export const findAction = (
  { kind, action }: { kind: string; action: string },
): ScheduleAction | undefined => scheduleKind(kind).actions.find(({ id }) => id === action);
