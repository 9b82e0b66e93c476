/** Reports scheduled backups that have not succeeded for twice their interval. @module */

import { selectLastBackup } from "../../../db/last_backups.ts";
import { selectUnfinishedRuns, type StartedRun } from "../../../db/schedule_runs.ts";
import {
  type Schedule,
  selectEnabledSchedules,
  updateScheduleOverdue,
} from "../../../db/schedules.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { nextDue } from "../../input/cron.ts";
import { excludedBy } from "../../snapshots/labels.ts";
import type { StackDeps } from "../../stacks/stacks.ts";
import { scheduleKind } from "../schedules/kinds/mod.ts";

/** Resource that shows whether a backup is overdue. */
const RESOURCE = "/api/schedules";

/**
 * Emits `backup.overdue` once for each schedule whose backup is overdue; the next success ends that. One
 * whose run is in progress, or whose stack a label excludes, is not.
 */
export async function reportOverdueBackups(
  deps: EmitDeps & StackDeps & Pick<Deps, "changes">,
): Promise<void> {
  const { changes, db, now } = deps;
  const running = selectUnfinishedRuns(db);
  for (const schedule of selectEnabledSchedules(db)) {
    const subject = scheduleKind(schedule.kind).backupSubject?.(schedule);
    if (subject === undefined) continue;
    const { id, overdueSince } = schedule;
    const { target: targetId = null } = schedule.options;
    // At any target, if it goes to the default one.
    const lastAt = selectLastBackup(db, { subject, targetId })?.at ?? null;
    const isOverdue = isBehind(schedule, lastAt, running, now());
    if (isOverdue === (overdueSince !== null)) continue;
    if (isOverdue && await isExcluded(deps, schedule)) continue;
    const at = now().toISOString();
    if (isOverdue) {
      report(deps, schedule, { subject, lastAt }, () => updateScheduleOverdue(db, id, at));
    } else updateScheduleOverdue(db, id, null);
    changes.record(RESOURCE);
  }
}

function isBehind(
  schedule: Schedule,
  lastAt: string | null,
  running: readonly StartedRun[],
  now: Date,
): boolean {
  const { at, intervalMs } = overdueAt(schedule, lastAt);
  if (now < at) return false;
  return !running.some(({ scheduleId, startedAt }) =>
    scheduleId === schedule.id && now.getTime() - Date.parse(startedAt) < intervalMs
  );
}

/**
 * When a backup is overdue: two intervals after the last one, or after the schedule was enabled or
 * changed, and not before it was due twice.
 */
export function overdueAt(
  { cronExpression, timezone, activeSince }: Pick<
    Schedule,
    "cronExpression" | "timezone" | "activeSince"
  >,
  lastAt: string | null,
): { at: Date; intervalMs: number } {
  const since = new Date(lastAt !== null && lastAt > activeSince ? lastAt : activeSince);
  const first = nextDue(cronExpression, timezone, since);
  const second = nextDue(cronExpression, timezone, first);
  const intervalMs = second.getTime() - first.getTime();
  return { at: new Date(Math.max(second.getTime(), since.getTime() + 2 * intervalMs)), intervalMs };
}

/** A stack or an engine that is gone does not excuse a backup. */
async function isExcluded(deps: StackDeps, { stack }: Schedule): Promise<boolean> {
  if (stack === null) return false;
  try {
    return await excludedBy(deps, stack) !== undefined;
  } catch (error) {
    if (asAppError(error)) return false;
    throw error;
  }
}

function report(
  deps: EmitDeps,
  schedule: Schedule,
  { subject, lastAt }: { subject: string; lastAt: string | null },
  store: () => void,
): void {
  const { id: scheduleId, name, stack } = schedule;
  emit(deps, "backup.overdue", {
    backup: scheduleKind(schedule.kind).subject(deps, schedule),
    subject,
    ...(stack !== null && { stack }),
    schedule: name,
    scheduleId,
    lastAt,
  }, store);
}
