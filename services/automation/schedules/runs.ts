/**
 * Runs of schedules. Each run is recorded before it starts, so that none is lost or repeated when
 * the service stops.
 *
 * @module
 */

import { selectJob } from "../../../db/jobs.ts";
import {
  countScheduleRuns,
  deleteScheduleRunsBefore,
  deleteScheduleRunsBeyond,
  insertScheduleRun,
  type RunEnd,
  type ScheduleRun,
  selectRunTargets,
  selectScheduleRuns,
  selectUnfinishedRuns,
  type StartedRun,
  updateScheduleRunEnd,
  updateScheduleRunJob,
} from "../../../db/schedule_runs.ts";
import {
  type Schedule,
  selectEnabledSchedules,
  updateScheduleLastRun,
} from "../../../db/schedules.ts";
import type { Page, Paged } from "../../../db/page.ts";
import { withDeadline } from "../../deadline.ts";
import type { Caller } from "../../access/caller.ts";
import { isLimited } from "../../access/scope.ts";
import { hideForeign } from "../../containers/visible.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { messageFor } from "../../errors.ts";
import { errorFields } from "../../log.ts";
import { automaticActor, recordAudit } from "../../access/audit/audit.ts";
import { createNextDue, type NextDue } from "../../input/cron.ts";
import { createLimiter, type Limiter } from "../../limiter.ts";
import { outcomeOf } from "./kinds/job_end.ts";
import type { Outcome, Run } from "./kinds/kind.ts";
import { scheduleKind } from "./kinds/mod.ts";
import { isInScope } from "./schedules.ts";

export { RUN_STATUSES } from "../../../db/schedule_runs.ts";
export type { ScheduleRun };

/**
 * Limit of parallel actions. Stopping a container may take ten seconds, and all schedules of a minute
 * should start on time, so it exceeds the limit of schedules of the Community Edition.
 */
const RUNNING_MAX = 64;

/** Longest delay of a run after a suspend or a clock jump, in milliseconds. */
const LATENESS_MAX_MS = 60_000;

/** Longest wait for active runs when the service stops, in milliseconds. */
const DRAIN_MS = 5_000;

/** Resource that shows the runs. */
const RESOURCE = "/api/schedules";

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Limit of stored runs of a schedule. */
const RUNS_MAX = 1_000;

/** Longest stored error, in characters. */
const ERROR_MAX = 500;

/** Starts runs and keeps track of the active ones. */
export interface RunStarter {
  /**
   * Starts the schedules that are due after `since` and no later than `until`, without waiting for
   * them. Adjacent rounds therefore miss none and run none twice, however long a round takes.
   */
  startDue(since: Date, until: Date): void;
  /** Resolves when no run is active. */
  idle(): Promise<void>;
  /** Waits up to {@linkcode DRAIN_MS} for active runs; `recoverRuns()` handles later ones. */
  close(): Promise<void>;
}

/** Finished runs in the scope of the caller, newest first. */
export function listScheduleRuns(
  deps: Pick<Deps, "db" | "inventory">,
  page: Page,
  caller: Pick<Caller, "scope"> = {},
): { history: ScheduleRun[] } & Paged {
  const { db } = deps;
  const targets = isLimited(caller.scope)
    ? selectRunTargets(db).filter((target) => isInScope(deps, caller.scope, target))
    : undefined;
  const history = selectScheduleRuns(db, { ...page, targets }).map((run) => ({
    ...run,
    error: run.error && hideForeign(deps, caller, run.error),
  }));
  return { history, total: countScheduleRuns(db, targets), ...page };
}

/**
 * Ends the runs that were active when the service stopped: with the job that they had started, which may
 * continue, or as failed.
 *
 * @param isActive Whether a run is one of this process.
 */
export function recoverRuns(deps: EmitDeps, isActive: (id: string) => boolean = () => false): void {
  for (const run of selectUnfinishedRuns(deps.db)) {
    if (isActive(run.id)) continue;
    const outcome = run.jobId === null
      ? failed("The service stopped before the run finished")
      : outcomeOf(selectJob(deps.db, run.jobId));
    if (outcome !== "unfinished") endRun(deps, run, outcome);
  }
}

export function sweepScheduleRuns({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteScheduleRunsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteScheduleRunsBeyond(db, RUNS_MAX);
}

export function createRunStarter(deps: Deps): RunStarter {
  const { log } = deps;
  /** By the id of the run. */
  const active = new Map<string, Promise<void>>();
  const limit = createLimiter({ what: "runs", running: RUNNING_MAX, waiting: Infinity });
  const inTurn = createTurns();
  const nextDue = createNextDue();
  let isClosed = false;

  const run = async (begun: StartedRun, schedule: Schedule) => {
    const work = () => act(deps, begun, schedule, inTurn);
    // Jobs have limits of their own, and may wait for hours.
    const outcome = await (scheduleKind(schedule.kind).isJob ? work() : limit(work));
    if (isClosed || outcome === "unfinished") return;
    endRun(deps, begun, outcome);
    deps.changes.record(RESOURCE);
  };

  return {
    startDue(since, until) {
      recoverRuns(deps, (id) => active.has(id));
      const begun = beginRuns(deps, dueBetween(deps, nextDue, since, until));
      if (begun.length > 0) deps.changes.record(RESOURCE);
      for (const { run: begunRun, schedule } of begun) {
        const ended = run(begunRun, schedule)
          .catch((error) => log.error("failed to record schedule run", errorFields(error)))
          .finally(() => active.delete(begunRun.id));
        active.set(begunRun.id, ended);
      }
    },
    async idle() {
      while (active.size) await Promise.all(active.values());
    },
    async close() {
      await withDeadline(Promise.all(active.values()), DRAIN_MS);
      isClosed = true;
    },
  };
}

/** One turn after the other for each thing. */
function createTurns(): Run["inTurn"] {
  const turns = new Map<string, { limit: Limiter; count: number }>();
  return async (thing, work) => {
    const turn = turns.get(thing) ??
      { limit: createLimiter({ what: thing, running: 1, waiting: Infinity }), count: 0 };
    turns.set(thing, turn);
    turn.count++;
    try {
      return await turn.limit(work);
    } finally {
      if (--turn.count === 0) turns.delete(thing);
    }
  };
}

interface DueSchedule {
  schedule: Schedule;
  dueAt: Date;
}

/** Each due schedule with its last due time: several due times are one run. */
function dueBetween(
  { db, log }: Pick<Deps, "db" | "log">,
  nextDue: NextDue,
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
      const dueAt = lastDueBetween(schedule, nextDue, from, until);
      if (dueAt) due.push({ schedule, dueAt });
    } catch (error) {
      log.error("schedule evaluation failed", { schedule: schedule.id, ...errorFields(error) });
    }
  }
  return due;
}

function lastDueBetween(
  { cronExpression, timezone }: Schedule,
  nextDue: NextDue,
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

/** Records the runs in one transaction. @returns The runs to start. */
function beginRuns(
  { db, now }: Pick<Deps, "db" | "now">,
  due: readonly DueSchedule[],
): { run: StartedRun; schedule: Schedule }[] {
  if (due.length === 0) return [];
  const at = now().toISOString();
  return db.transaction(() => {
    const unfinished = new Set(selectUnfinishedRuns(db).map(({ scheduleId }) => scheduleId));
    return due.flatMap(({ schedule, dueAt }) => {
      const { id: scheduleId, name: scheduleName, kind, action } = schedule;
      const { containerId, containerName, stack } = schedule;
      const run: StartedRun = {
        id: crypto.randomUUID(),
        scheduleId,
        scheduleName,
        kind,
        action,
        containerId,
        containerName,
        stack,
        subject: scheduleKind(kind).subject({ db }, schedule),
        startedAt: at,
        jobId: null,
      };
      const isNew = insertScheduleRun(db, { ...run, dueAt: dueAt.toISOString() });
      if (!isNew) return [];
      if (unfinished.has(scheduleId)) {
        const error = "The previous run is still in progress";
        updateScheduleRunEnd(db, { ...run, finishedAt: at, status: "skipped", error });
        return [];
      }
      updateScheduleLastRun(db, scheduleId, at);
      return [{ run, schedule }];
    });
  });
}

const failed = (error: string): Outcome => ({ status: "failure", error });

/**
 * Does what the schedule is for. An unreachable engine is a failure without a retry.
 *
 * @param run Gets the container and the job.
 */
async function act(
  deps: Deps,
  run: StartedRun,
  schedule: Schedule,
  inTurn: Run["inTurn"],
): Promise<Outcome> {
  try {
    return await scheduleKind(schedule.kind).run(deps, schedule, {
      actor: automaticActor("schedule"),
      begun(jobId) {
        run.jobId = jobId;
        updateScheduleRunJob(deps.db, run.id, jobId);
      },
      found({ id, name }) {
        run.containerId = id;
        run.containerName = run.subject = name;
      },
      inTurn,
    });
  } catch (error) {
    return failed(messageFor(deps.log, error, "schedule run failed", { schedule: schedule.id }));
  }
}

function endRun(deps: EmitDeps, run: StartedRun, problem: Exclude<Outcome, "unfinished">): void {
  const { db, now } = deps;
  const end: RunEnd = {
    ...run,
    status: problem?.status ?? "success",
    error: problem?.error.slice(0, ERROR_MAX) ?? null,
    finishedAt: now().toISOString(),
  };
  const { scheduleId, scheduleName: schedule, kind, action, subject, containerName, stack } = run;
  const store = () => {
    updateScheduleRunEnd(db, end);
    if (end.status === "skipped") return;
    recordAudit(deps, {
      caller: automaticActor("schedule"),
      action: `schedule ${action}`,
      target: subject,
      targets: [subject, run.containerId ?? "", schedule],
      outcome: end.status === "success" ? "success" : "failure",
    });
  };
  if (end.status !== "failure") return db.transaction(store);
  const data = {
    schedule,
    scheduleId,
    kind,
    action,
    subject,
    ...(containerName !== null && { container: containerName }),
    ...(stack !== null && { stack }),
    error: end.error ?? "",
    ...(problem?.jobId !== undefined && { jobId: problem.jobId }),
  };
  emit(deps, "schedule.failed", data, store);
}
