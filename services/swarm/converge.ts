/** Waits until the swarm reports the outcome of a change of a service. @module */

import type { Engine } from "../../engine/client.ts";
import {
  type Service,
  serviceInspect,
  type Task,
  taskList,
  TASKS_LIMITS,
} from "../../engine/swarm.ts";
import type { Deps } from "../deps.ts";
import { JobEnd, type JobRun } from "../jobs/kind.ts";
import { sleep } from "../waiting.ts";
import { awaitLeader } from "./leader.ts";
import { modeOf, replicasOf } from "./services.ts";

/** State of a service after a change. */
export interface ServiceResult {
  image: string;
  desired: number;
  running: number;
  /** State of the update, e.g. `completed`; `null` if no task had to be replaced. */
  update: string | null;
}

/** The update status before a change; the swarm may still report it shortly after. */
export interface Before {
  StartedAt: string | undefined;
}

/** Poll interval of the swarm, in milliseconds. */
const POLL_MS = 300;

/** Failures of tasks, without an update that Swarm watches, after which it is given up. */
const FAILURES_MAX = 3;

/** Longest time in which no task changes, besides that of the update settings, in milliseconds. */
const SILENCE_MAX_MS = 10 * 60_000;

/**
 * Waits until all tasks of a service are those of its specification and run.
 *
 * @param options.isRollback Whether the change itself is a rollback.
 * @throws {JobEnd} `rolled_back` if the swarm returned to the earlier version, `failed` if it paused
 * the update or no task changes any more, `needs_attention` if its rollback failed.
 */
export async function converge(
  { engine }: Pick<Deps, "engine">,
  { progress, signal }: Pick<JobRun, "progress" | "signal">,
  id: string,
  before: Before,
  { isRollback = false }: { isRollback?: boolean } = {},
): Promise<ServiceResult> {
  const read = () => awaitLeader(signal, () => readService(engine, id, signal));
  const earlier = new Set((await read()).tasks.filter(hasFailed).map(({ ID }) => ID));
  let last = "";
  let changedAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const { service, tasks } = await read();
    const result = toResult(service, tasks, before);
    progress({ current: result.running, total: result.desired, message: null });
    assertNotEnded(result, service, tasks, isRollback);
    if (hasConverged(service, tasks, result)) return result;
    const failures = tasks.filter((task) => hasFailed(task) && !earlier.has(task.ID));
    if (!isUpdating(result) && failures.length >= Math.max(FAILURES_MAX, result.desired)) {
      throw new JobEnd("failed", `New tasks fail: ${reasonOf(failures)}`, result);
    }
    const text = JSON.stringify(tasks.map(({ ID, Status }) => [ID, Status.State, Status.Err]));
    if (text !== last) changedAt = performance.now();
    last = text;
    const silenceMs = silenceMaxMs(service);
    if (performance.now() - changedAt > silenceMs) throw stuck(result, tasks, silenceMs);
    await sleep(POLL_MS, signal);
  }
}

async function readService(engine: Engine, id: string, signal: AbortSignal) {
  const service = await serviceInspect(engine, id, { signal });
  const filters = { service: [service.ID] };
  const tasks = await taskList(engine, { filters, signal, limits: TASKS_LIMITS });
  return { service, tasks };
}

/** Between two groups of tasks, Swarm monitors the first one and then waits. */
export const silenceMaxMs = ({ Spec: { UpdateConfig, RollbackConfig } }: Pick<Service, "Spec">) =>
  SILENCE_MAX_MS +
  Math.max(
    ...[UpdateConfig, RollbackConfig].map((each) =>
      ((each?.Delay ?? 0) + (each?.Monitor ?? 0)) / 1e6
    ),
  );

const isUpdating = ({ update }: ServiceResult) =>
  update === "updating" || update === "rollback_started";

const hasFailed = ({ Status }: Task) => Status.State === "failed" || Status.State === "rejected";

function toResult(service: Service, tasks: readonly Task[], before: Before): ServiceResult {
  const { UpdateStatus, Spec } = service;
  const isOld = UpdateStatus?.StartedAt !== undefined &&
    UpdateStatus.StartedAt === before.StartedAt;
  const current = tasks.filter((task) => isWanted(task, service) && isCurrent(task, service));
  const wanted = tasks.filter((task) => isWanted(task, service));
  return {
    image: Spec.TaskTemplate?.ContainerSpec?.Image ?? "",
    desired: modeOf(service) === "replicated" ? replicasOf(service) : wanted.length,
    running: current.filter(({ Status }) => Status.State === "running").length,
    update: (!isOld && UpdateStatus?.State) || null,
  };
}

/** Tasks of a job are meant to complete. */
const isWanted = ({ DesiredState }: Task, service: Service) =>
  DesiredState === (modeOf(service) === "job" ? "complete" : "running");

/** Whether a task is one of the service's current specification. */
const isCurrent = ({ Spec }: Task, { Spec: { TaskTemplate } }: Service) =>
  textOf(Spec) === textOf(TaskTemplate);

/** The engine fills in the runtime of services only. */
const textOf = (spec: object = {}) => JSON.stringify({ ...spec, Runtime: undefined });

function hasConverged(
  service: Service,
  tasks: readonly Task[],
  result: ServiceResult,
): boolean {
  const { desired, running } = result;
  if (isUpdating(result)) return false;
  if (modeOf(service) === "job") return true;
  // Tasks of a node that is down stay in their last state.
  const wanted = tasks.filter((task) => isWanted(task, service)).length;
  return running === desired && wanted === desired;
}

/** @throws {JobEnd} If the swarm has given the change up. */
function assertNotEnded(
  result: ServiceResult,
  { UpdateStatus }: Service,
  tasks: readonly Task[],
  isRollback: boolean,
): void {
  const reason = reasonOf(tasks) ?? UpdateStatus?.Message ?? "";
  switch (result.update) {
    case "paused":
      throw new JobEnd("failed", `Swarm has paused the update: ${reason}`, result);
    case "rollback_paused":
      throw new JobEnd("needs_attention", `Swarm has paused the rollback: ${reason}`, result);
    case "rollback_completed":
      if (isRollback) return;
      throw new JobEnd("rolled_back", `Swarm has rolled the update back: ${reason}`, result);
  }
}

const stuck = (
  { running, desired }: ServiceResult,
  tasks: readonly Task[],
  silenceMs: number,
) =>
  new JobEnd(
    "failed",
    `${running} of ${desired} tasks run, and nothing has changed for ${
      Math.round(silenceMs / 60_000)
    } ` +
      `minutes: ${reasonOf(tasks) ?? "the swarm gives no reason"}`,
  );

/** The error of the task that failed last. */
function reasonOf(tasks: readonly Task[]): string | undefined {
  const failed = tasks.filter(({ Status }) => Status.Err)
    .sort((a, b) => (a.Status.Timestamp ?? "") < (b.Status.Timestamp ?? "") ? 1 : -1);
  return failed[0]?.Status.Err;
}
