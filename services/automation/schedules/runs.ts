/**
 * Runs of schedules. Each run is recorded before it starts, so that none is lost or repeated when
 * the service stops.
 *
 * @module
 */

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
import { createLimiter } from "../../limiter.ts";
import { scheduleKind } from "./kinds.ts";
import { isInScope, scheduledContainer } from "./schedules.ts";

export { RUN_STATUSES } from "../../../db/schedule_runs.ts";

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

/** Marks the runs as failed that were active when the service stopped. Called before any starts. */
export function recoverRuns(deps: EmitDeps): void {
  for (const run of selectUnfinishedRuns(deps.db)) {
    endRun(deps, run, failed("The service stopped before the run finished"));
  }
}

export function sweepScheduleRuns({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteScheduleRunsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteScheduleRunsBeyond(db, RUNS_MAX);
}

export function createRunStarter(deps: Deps): RunStarter {
  const { log } = deps;
  const active = new Map<string, Promise<void>>();
  const limit = createLimiter({ what: "runs", running: RUNNING_MAX, waiting: Infinity });
  const nextDue = createNextDue();
  let isClosed = false;

  const run = async (begun: StartedRun, schedule: Schedule) => {
    const outcome = await limit(() => act(deps, schedule));
    if (isClosed) return;
    endRun(deps, begun, outcome);
    deps.changes.record(RESOURCE);
  };

  return {
    startDue(since, until) {
      const begun = beginRuns(
        deps,
        dueBetween(deps, nextDue, since, until),
        (id) => active.has(id),
      );
      if (begun.length > 0) deps.changes.record(RESOURCE);
      for (const { run: begunRun, schedule } of begun) {
        const ended = run(begunRun, schedule)
          .catch((error) => log.error("failed to record schedule run", errorFields(error)))
          .finally(() => active.delete(schedule.id));
        active.set(schedule.id, ended);
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
  isActive: (scheduleId: string) => boolean,
): { run: StartedRun; schedule: Schedule }[] {
  if (due.length === 0) return [];
  const at = now().toISOString();
  return db.transaction(() =>
    due.flatMap(({ schedule, dueAt }) => {
      const { id: scheduleId, name: scheduleName, containerId, containerName, action } = schedule;
      const run: StartedRun = {
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
      if (isActive(scheduleId)) {
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
  & Partial<Pick<RunEnd, "containerId" | "containerName">>
  & {
    /** The job that failed. */
    jobId?: string;
  };

const SUCCESS: Outcome = { status: "success", error: null };

const failed = (error: string): Outcome => ({
  status: "failure",
  error: error.slice(0, ERROR_MAX),
});

/** Acts on the container. An unreachable engine is a failure without a retry. */
async function act(deps: Deps, schedule: Schedule): Promise<Outcome> {
  let found: Pick<Outcome, "containerId" | "containerName"> = {};
  try {
    const container = await scheduledContainer(deps, schedule);
    const { id, name } = container;
    found = { containerId: id, containerName: name };
    const failure = await scheduleKind(schedule.action).run(deps, container);
    if (!failure) return { ...SUCCESS, ...found };
    return { ...failed(failure.error), jobId: failure.jobId, ...found };
  } catch (error) {
    const fields = { schedule: schedule.id };
    return { ...failed(messageFor(deps.log, error, "schedule run failed", fields)), ...found };
  }
}

function endRun(deps: EmitDeps, run: StartedRun, { jobId, ...outcome }: Outcome): void {
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
    ...(jobId !== undefined && { jobId }),
  };
  emit(deps, "schedule.failed", data, store);
}
