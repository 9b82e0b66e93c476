/**
 * Runs jobs. Every change of a job is stored before the next step, so that after a crash the record
 * shows how far it came, and its kind can continue or undo it.
 *
 * @module
 */

import {
  insertJob,
  type Job,
  type JobStep,
  selectUnfinishedJobOf,
  selectUnfinishedJobs,
} from "../../db/jobs.ts";
import { EngineUnreachableError } from "../../engine/errors.ts";
import { stackOf } from "../access/scope.ts";
import type { Holder } from "../access/shares.ts";
import { responds } from "../containers/unreadable.ts";
import type { Deps } from "../deps.ts";
import { AppError, isNotStored, messageFor } from "../errors.ts";
import { sleep } from "../waiting.ts";
import { errorFields } from "../log.ts";
import type { ActiveJob, JobGuard } from "./active_jobs.ts";
import { createBrokenCalls } from "./broken_calls.ts";
import { JobEnd, type JobKind, type JobRun } from "./kind.ts";
import { createRun, cut, messageOf, publish, update } from "./run.ts";
import { type JobView, toView } from "./view.ts";

/** Pause before a failed attempt is repeated, in milliseconds. */
const RETRY_MS = 5_000;

/** Longest time of attempts without a further step while the engine answers, in milliseconds. */
const PATIENCE_MS = 30 * 60_000;

/** A job that was accepted. */
export interface StartedJob<Result> {
  /** The job as it was created. */
  job: JobView;
  /** Resolves or rejects when the job has ended. May be ignored. */
  completion: Promise<Result>;
}

/**
 * Stores a job and starts it as soon as fewer than four are running, and fewer than its API token and
 * its account may have.
 *
 * @param request.target Identifies what the job works on: a container or a stack by its name.
 * @param request.signal Cancels the job when it aborts; its reason is the error of the job.
 * @param request.isUrgent Starts at once, because a request waits for the end.
 * @param request.attachment What the job needs but cannot be stored, such as the body of a request.
 * @throws {AppError} `conflict` if the target has an unfinished job or is reserved, or if there are
 * too many jobs of all, the API token or the account; `unavailable` while the service stops.
 */
export function startJob<Input, Result, Attachment>(
  deps: Deps,
  kind: JobKind<Input, Result, Attachment>,
  { target, input, attachment, caller, signal, isUrgent = false }: {
    target: string;
    input: Input;
    attachment?: Attachment | undefined;
    caller: Holder;
    signal?: AbortSignal | undefined;
    isUrgent?: boolean | undefined;
  },
): StartedJob<Result> {
  const { db, jobs, now } = deps;
  const owner = { createdBy: caller.userId, tokenId: caller.apiToken?.id ?? null };
  jobs.assertRoom(owner);
  assertNoOther(db, kind, target);
  const record: Job = {
    id: crypto.randomUUID(),
    kind: kind.id,
    targetType: kind.targetType,
    target,
    stack: kind.stackOf?.(input) ?? stackOfTarget(deps, kind, target),
    status: "queued",
    progress: null,
    steps: [],
    input,
    error: null,
    result: null,
    ...owner,
    createdAt: now().toISOString(),
    startedAt: null,
    endedAt: null,
  };
  const reservation = kind.reserve?.(deps, { target, input });
  try {
    insertJob(db, record);
  } catch (error) {
    reservation?.[Symbol.dispose]();
    throw error;
  }
  const job = jobs.add(record, guardOf(kind, record));
  const cancel = () => job.controller.abort(signal?.reason);
  signal?.addEventListener("abort", cancel, { signal: job.ended.signal });
  publish(deps, job);
  const view = toView(record);
  const run = createRun<Input, Attachment>(deps, job, attachment);
  const own = depsOfJob(deps, job);
  return {
    job: view,
    completion: launch(deps, job, {
      kind,
      reservation,
      work: () => runOrRecover(own, job, kind, run),
      isUrgent,
    }),
  };
}

const depsOfJob = (deps: Deps, job: ActiveJob): Deps => ({
  ...deps,
  brokenCalls: createBrokenCalls(deps.eventStream, () => stepsOf(job)),
});

const guardOf = (kind: JobKind, { input }: Job): JobGuard => kind.guardOf?.(input) ?? kind;

/** Stored, because the container may be gone or have another name while the job runs. */
function stackOfTarget(
  { inventory }: Pick<Deps, "inventory">,
  { targetType }: JobKind,
  target: string,
): string | null {
  if (targetType !== "container") return null;
  const container = inventory.list().find(({ name }) => name === target);
  return container ? stackOf(container) : null;
}

function assertNoOther(db: Deps["db"], { targetType }: JobKind, target: string): void {
  const other = selectUnfinishedJobOf(db, { targetType, target });
  if (!other) return;
  throw new AppError(
    "conflict",
    `Job ${other.id} (${other.kind}) on ${target} has not finished yet`,
  );
}

/** Resumes the unfinished jobs of an earlier process. Running ones recover before queued ones start. */
export function resumeJobs(deps: Deps, kinds: readonly JobKind[]): void {
  const unfinished = selectUnfinishedJobs(deps.db)
    .filter(({ id }) => deps.jobs.get(id) === undefined);
  const [running, queued] = [false, true].map((isQueued) =>
    unfinished.filter(({ status }) => (status === "queued") === isQueued)
  );
  for (const record of [...running!, ...queued!]) resume(deps, kinds, record);
}

function resume(deps: Deps, kinds: readonly JobKind[], record: Job): void {
  const kind = kinds.find(({ id }) => id === record.kind) ?? unknownKind(record);
  // Throws while another action is in progress; the restarted worker then tries again.
  const reservation = kind.reserve?.(deps, record);
  const job = deps.jobs.add(record, guardOf(kind, record));
  const run = createRun(deps, job, undefined);
  const own = depsOfJob(deps, job);
  const work = record.status === "queued"
    ? () => runOrRecover(own, job, kind, run)
    : () => recoverWhenReachable(own, job, () => kind.recover(own, run));
  void launch(deps, job, { kind, reservation, work })
    .then(() => "", (error: Error) => error.message)
    .then((error) => {
      const { id, kind, target, status } = job.record;
      deps.log.warn("interrupted job resumed", { job: id, kind, target, status, error });
    });
}

/** Fails a job of a later version. */
function unknownKind({ kind, targetType }: Job): JobKind {
  const fail = () => Promise.reject(new AppError("unavailable", `Unknown kind of job: ${kind}`));
  return {
    id: kind,
    targetType,
    role: "admin",
    permission: "settings:write",
    run: fail,
    recover: fail,
  };
}

/** Runs a job; the engine may be lost meanwhile. */
async function runOrRecover<Input, Result, Attachment>(
  deps: Deps,
  job: ActiveJob,
  kind: JobKind<Input, Result, Attachment>,
  run: JobRun<Input, Attachment>,
): Promise<Result> {
  try {
    return await kind.run(deps, run);
  } catch (error) {
    if (!kind.outlivesEngine || !isPassing(error)) throw error;
    return await recoverWhenReachable(deps, job, () => kind.recover(deps, run));
  }
}

/** The engine may come back, and a full disk may get room. */
const isPassing = (error: unknown): boolean =>
  error instanceof EngineUnreachableError || isNotStored(error);

/** The engine may start later than this service. */
async function recoverWhenReachable<Result>(
  { engine, jobs, now }: Pick<Deps, "engine" | "jobs" | "now">,
  job: ActiveJob,
  recover: () => Promise<Result>,
): Promise<Result> {
  let last = { steps: stepsOf(job), at: now().getTime() };
  for (;;) {
    try {
      return await recover();
    } catch (error) {
      // A cancelled job has to undo what it began, too.
      if (!isPassing(error) || jobs.stopping.aborted) throw error;
      const [steps, at] = [stepsOf(job), now().getTime()];
      const isStuck = !isNotStored(error) && steps <= last.steps && await responds(engine);
      if (!isStuck) last = { steps, at };
      if (at - last.at >= PATIENCE_MS) throw giveUp(error);
      job.isWaiting = true;
      job.notify();
      await sleep(RETRY_MS, jobs.stopping);
      job.isWaiting = false;
      jobs.stopping.throwIfAborted();
    }
  }
}

const stepsOf = ({ record }: ActiveJob): number =>
  record.steps.filter(({ status }) => status === "succeeded").length;

const giveUp = (error: unknown) =>
  new JobEnd(
    "needs_attention",
    `${
      messageOf(error)
    }; the job was given up after 30 minutes and may have left containers stopped`,
  );

/** Runs a job in its turn and records how it ends. */
function launch<Result>(
  deps: Deps,
  job: ActiveJob,
  { kind, reservation, work, isUrgent = false }: {
    kind: Pick<JobKind, "endEvent">;
    reservation: Disposable | undefined;
    work: () => Promise<Result>;
    isUrgent?: boolean;
  },
): Promise<Result> {
  const completion = (async () => {
    try {
      const { record, controller: { signal } } = job;
      using _slot = isUrgent ? undefined : await deps.jobs.acquire(record, signal);
      const startedAt = job.record.startedAt ?? deps.now().toISOString();
      update(deps, job, { status: "running", startedAt });
      const result = await work();
      await end(deps, job, kind, { status: "succeeded", result: result ?? null });
      return result;
    } catch (error) {
      await end(deps, job, kind, classifyFailure(deps, job, error));
      throw error;
    } finally {
      reservation?.[Symbol.dispose]();
      deps.jobs.remove(job.record.id);
      job.ended.abort();
      job.notify();
    }
  })();
  completion.catch(() => {});
  return completion;
}

type Outcome = Pick<Job, "status"> & Partial<Pick<Job, "error" | "result">>;

const FAILED = { status: "failed", result: null } as const;

function classifyFailure(
  { jobs, log }: Pick<Deps, "jobs" | "log">,
  { controller, record }: ActiveJob,
  error: unknown,
): Outcome | undefined {
  const { status, result } = error instanceof JobEnd ? error : FAILED;
  if (status !== "failed") return { status, error: cut(messageOf(error)), result };
  // The next start recovers it.
  if (jobs.stopping.aborted) return undefined;
  // The end that a kind has decided on stays, because it says what is left behind.
  if (controller.signal.aborted && !(error instanceof JobEnd)) {
    return { status: "cancelled", error: cut(messageOf(controller.signal.reason)) };
  }
  return { status, error: cut(messageFor(log, error, "job failed", { job: record.id })), result };
}

/** Stores the outcome. While that fails (the disk is full), the job has not ended. */
async function end(
  deps: Deps,
  job: ActiveJob,
  kind: Pick<JobKind, "endEvent">,
  outcome: Outcome | undefined,
): Promise<void> {
  const { jobs, log, now } = deps;
  while (outcome && !jobs.isClosed) {
    try {
      const at = now().toISOString();
      const steps = job.record.steps.map((step): JobStep =>
        step.status === "running"
          ? { ...step, status: "failed", endedAt: at, message: "Interrupted" }
          : step
      );
      const { progress } = job.record;
      const changes = { ...outcome, steps, progress, endedAt: at };
      return update(deps, job, changes, kind.endEvent?.({ ...job.record, ...changes }));
    } catch (error) {
      log.error("failed to record the end of a job", { job: job.record.id, ...errorFields(error) });
      await sleep(RETRY_MS, jobs.stopping);
      if (jobs.stopping.aborted) return;
    }
  }
}
