/**
 * Runs of schedules: what is due is written down before it is done, so that no end of the service
 * makes a run forgotten or done twice.
 *
 * @module
 */

import {
  type BegunRun,
  countScheduleRuns,
  deleteScheduleRunsBefore,
  deleteScheduleRunsBeyond,
  insertScheduleRun,
  type RunEnd,
  type ScheduleRun,
  selectScheduleRuns,
  selectUnfinishedRuns,
  updateScheduleRunEnd,
} from "../../../db/ce/schedule_runs.ts";
import {
  type Schedule,
  selectEnabledSchedules,
  updateScheduleLastRun,
} from "../../../db/ce/schedules.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { asAppError } from "../../errors.ts";
import { errorFields } from "../../log.ts";
import { automaticActor, recordAudit } from "../auth/audit.ts";
import { type ActionDeps, actOnContainer } from "../containers/actions.ts";
import { nextDue } from "./cron.ts";
import { createLimiter } from "../../limiter.ts";
import { scheduledContainer } from "./schedules.ts";

export { RUN_STATUSES } from "../../../db/ce/schedule_runs.ts";
export type { ScheduleRun };

/**
 * Actions at the same time. A container may take ten seconds to stop, and whatever is due in the
 * same minute is to begin in time, so this is more than a CE has schedules.
 */
const RUNNING_MAX = 64;

/** What falls due after a halt of the process or a leap of the clock is this late at most; ms. */
const LATENESS_MAX_MS = 60_000;

/** How long the end of the service waits for runs under way, in milliseconds. */
const DRAIN_MS = 5_000;

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Most runs that are kept of each schedule. */
const RUNS_MAX = 1_000;

/** The engine's sentences are short; nothing longer is kept. */
const ERROR_MAX = 500;

type RunDeps = EmitDeps & ActionDeps & Pick<Deps, "log">;

/** Starts the runs of this process and knows which have not ended. */
export interface RunStarter {
  /**
   * Starts the schedules that fall due after `since` and not after `until`; does not wait for
   * them. Rounds that join up therefore miss none and run none twice, however long a round takes.
   */
  startDue(since: Date, until: Date): void;
  /** When no run is under way. */
  settled(): Promise<void>;
  /** Waits a while for the runs under way; what ends later is left to `recoverRuns()`. */
  close(): Promise<void>;
}

/** Finished runs, newest first. */
export function listScheduleRuns(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { history: ScheduleRun[]; total: number; limit: number; offset: number } {
  return {
    history: selectScheduleRuns(db, { limit, offset }),
    total: countScheduleRuns(db),
    limit,
    offset,
  };
}

/** Ends the runs that the last end of the service cut short. Only before any is started. */
export function recoverRuns(deps: EmitDeps): void {
  for (const run of selectUnfinishedRuns(deps.db)) {
    endRun(deps, run, failed("The service stopped before the run finished"));
  }
}

export function sweepScheduleRuns({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteScheduleRunsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteScheduleRunsBeyond(db, RUNS_MAX);
}

export function createRunStarter(deps: RunDeps): RunStarter {
  const { log } = deps;
  const underWay = new Map<string, Promise<void>>();
  const gate = createLimiter({ what: "runs", running: RUNNING_MAX, waiting: Infinity });
  let closed = false;

  const run = async (begun: BegunRun, schedule: Schedule) => {
    const outcome = await gate(() => act(deps, schedule));
    if (!closed) endRun(deps, begun, outcome);
  };

  return {
    startDue(since, until) {
      const begun = beginRuns(deps, dueBetween(deps, since, until), (id) => underWay.has(id));
      for (const { run: begunRun, schedule } of begun) {
        const ended = run(begunRun, schedule)
          .catch((error) => log.error("schedule run not recorded", errorFields(error)))
          .finally(() => underWay.delete(schedule.id));
        underWay.set(schedule.id, ended);
      }
    },
    async settled() {
      while (underWay.size) await Promise.all(underWay.values());
    },
    async close() {
      await withDeadline(Promise.all(underWay.values()), DRAIN_MS);
      closed = true;
    },
  };
}

interface DueSchedule {
  schedule: Schedule;
  dueAt: Date;
}

/** Each due schedule with the last of its due times: several of them are one run. */
function dueBetween(
  { db, log }: Pick<Deps, "db" | "log">,
  since: Date,
  until: Date,
): DueSchedule[] {
  const earliest = new Date(until.getTime() - LATENESS_MAX_MS);
  if (since < earliest) {
    log.warn("clock jump or suspend detected; missed schedules are skipped", {
      from: since.toISOString(),
      to: earliest.toISOString(),
    });
  }
  const from = since < earliest ? earliest : since;
  const due: DueSchedule[] = [];
  for (const schedule of selectEnabledSchedules(db)) {
    try {
      const dueAt = lastDueBetween(schedule, from, until);
      if (dueAt) due.push({ schedule, dueAt });
    } catch (error) {
      log.error("schedule evaluation failed", { schedule: schedule.id, ...errorFields(error) });
    }
  }
  return due;
}

function lastDueBetween(
  { cronExpression, timezone }: Schedule,
  from: Date,
  until: Date,
): Date | undefined {
  let last: Date | undefined;
  for (let at = nextDue(cronExpression, timezone, from); at <= until;) {
    last = at;
    at = nextDue(cronExpression, timezone, at);
  }
  return last;
}

/** Writes all of them down at once. @returns Those that are to be done. */
function beginRuns(
  { db, now }: Pick<Deps, "db" | "now">,
  due: readonly DueSchedule[],
  isUnderWay: (scheduleId: string) => boolean,
): { run: BegunRun; schedule: Schedule }[] {
  if (due.length === 0) return [];
  const at = now().toISOString();
  return db.transaction(() =>
    due.flatMap(({ schedule, dueAt }) => {
      const { id: scheduleId, name: scheduleName, containerId, containerName, action } = schedule;
      const run: BegunRun = {
        id: crypto.randomUUID(),
        scheduleId,
        scheduleName,
        containerId,
        containerName,
        action,
        startedAt: at,
      };
      const isNew = insertScheduleRun(db, { ...run, dueAt: dueAt.toISOString() });
      if (!isNew) return [];
      if (isUnderWay(scheduleId)) {
        const error = "The previous run is still in progress";
        updateScheduleRunEnd(db, { ...run, finishedAt: at, status: "skipped", error });
        return [];
      }
      updateScheduleLastRun(db, scheduleId, at);
      return [{ run, schedule }];
    })
  );
}

type Outcome =
  & Pick<RunEnd, "status" | "error">
  & Partial<Pick<RunEnd, "containerId" | "containerName">>;

const failed = (error: string): Outcome => ({
  status: "failure",
  error: error.slice(0, ERROR_MAX),
});

/** Acts on the container as it is found now; an engine that is away is a failure, and no retry. */
async function act(deps: RunDeps, schedule: Schedule): Promise<Outcome> {
  let found: Pick<Outcome, "containerId" | "containerName"> = {};
  try {
    const { id, name } = await scheduledContainer(deps, schedule);
    found = { containerId: id, containerName: name };
    await actOnContainer(deps, id, schedule.action);
    return { status: "success", error: null, ...found };
  } catch (error) {
    const known = asAppError(error);
    if (!known) {
      deps.log.error("schedule run failed", { schedule: schedule.id, ...errorFields(error) });
    }
    return { ...failed(known?.message ?? "Internal error"), ...found };
  }
}

function endRun(deps: EmitDeps, run: BegunRun, outcome: Outcome): void {
  const { db, now } = deps;
  const { containerId, containerName } = run;
  const end: RunEnd = {
    id: run.id,
    containerId,
    containerName,
    ...outcome,
    finishedAt: now().toISOString(),
  };
  const store = () => {
    updateScheduleRunEnd(db, end);
    recordAudit(deps, {
      caller: automaticActor("schedule"),
      action: `schedule ${run.action}`,
      target: end.containerName,
      targets: [end.containerName, end.containerId, run.scheduleName],
      outcome: end.status === "success" ? "success" : "failure",
    });
  };
  if (end.status !== "failure") return db.transaction(store);
  const data = {
    schedule: run.scheduleName,
    scheduleId: run.scheduleId,
    container: end.containerName,
    action: run.action,
    error: end.error ?? "",
  };
  emit(deps, "schedule.failed", data, store);
}
