/** Last backups of the stacks, which are known without asking a target. @module */

import {
  deleteBackupMode,
  replaceBackupMode,
  selectBackupModes,
} from "../../../db/backup_modes.ts";
import { selectBackupTargets } from "../../../db/backup_targets.ts";
import { selectLastStackBackups } from "../../../db/last_backups.ts";
import { selectEnabledSchedules } from "../../../db/schedules.ts";
import type { Caller } from "../../access/caller.ts";
import { includesStack } from "../../access/scope.ts";
import { ownDataCheck } from "../../backup/volumes/own_data.ts";
import { currentContainers } from "../../containers/reads.ts";
import { visibleTo } from "../../containers/visible.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { partsOf } from "../../snapshots/contents.ts";
import { withImageLabels } from "../../snapshots/labels.ts";
import { isExcluded, type Mode } from "../../snapshots/modes.ts";
import { findStack, type StackDeps } from "../../stacks/stacks.ts";
import { backupKind } from "../schedules/kinds/backup.ts";

export interface StackBackups {
  stack: string;
  /** Number of volumes and directories that its backups have. */
  parts: number;
  /** Whether a label leaves it out of scheduled backups. */
  isExcluded: boolean;
  /** Whether an enabled schedule backs it up. */
  isScheduled: boolean;
  /** The setting of the stack. */
  mode: Mode | null;
  lastBackup: {
    /** ISO 8601, UTC. */
    at: string;
    snapshot: string;
    /** Name of the target. */
    target: string;
    /** Of its files, in bytes. */
    size: number;
  } | null;
}

/** Whether its data is in no backup, and nothing says that this is intended or will change. */
export const isUnprotected = (
  { parts, isExcluded, isScheduled, lastBackup }: StackBackups,
): boolean => parts > 0 && !isExcluded && !isScheduled && lastBackup === null;

/**
 * The Compose projects that the caller may see, by name.
 *
 * @throws {EngineUnreachableError}
 */
export async function listStackBackups(
  deps: StackDeps & Pick<Deps, "config">,
  caller: Pick<Caller, "scope">,
): Promise<StackBackups[]> {
  const visible = visibleTo(deps, caller);
  const isOwn = await ownDataCheck(deps);
  const labelled = await withImageLabels(deps, await currentContainers(visible));
  const byStack = Map.groupBy(labelled, ({ composeProject }) => composeProject);
  const targets = new Map(selectBackupTargets(deps.db).map(({ id, name }) => [id, name]));
  const last = new Map(selectLastStackBackups(deps.db).map((each) => [each.stack, each]));
  const modes = selectBackupModes(deps.db);
  const scheduled = new Set(
    selectEnabledSchedules(deps.db).flatMap(({ kind, stack }) =>
      kind === backupKind.id ? [stack] : []
    ),
  );
  const listed = [...byStack].map(async ([stack, containers]) => {
    if (stack === null || !includesStack(caller.scope, stack)) return [];
    const { parts } = await partsOf(containers, deps.config.stackRoots, isOwn);
    const backup = last.get(stack);
    return [{
      stack,
      parts: parts.length,
      isExcluded: containers.some(isExcluded),
      isScheduled: scheduled.has(stack),
      mode: modes.get(stack) ?? null,
      lastBackup: backup
        ? {
          at: backup.at,
          snapshot: backup.snapshot,
          target: targets.get(backup.targetId)!,
          size: backup.size,
        }
        : null,
    }];
  });
  return (await Promise.all(listed)).flat().sort((one, other) => one.stack < other.stack ? -1 : 1);
}

/**
 * Sets the mode of the backups of a stack that no label decides.
 *
 * @param mode `null` removes the setting.
 * @throws {AppError} `not_found`; `conflict` for a stack of Swarm.
 */
export async function setBackupMode(
  deps: StackDeps,
  stack: string,
  mode: Mode | null,
): Promise<void> {
  const { kind } = await findStack(deps, stack);
  if (kind === "swarm") throw new AppError("conflict", "Backups are of Compose projects only");
  if (mode === null) deleteBackupMode(deps.db, stack);
  else replaceBackupMode(deps.db, { stack, mode });
}
