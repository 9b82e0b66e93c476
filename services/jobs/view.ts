/** Jobs as the API shows them, and who may see them. @module */

import { selectFleetHosts } from "../../db/fleet_hosts.ts";
import type { Job, JobStep, JobTargetType } from "../../db/jobs.ts";
import { type Caller, mayDo } from "../access/caller.ts";
import { seesHost } from "../access/host_scope.ts";
import {
  includesContainer,
  includesStack,
  isLimited,
  isOfHosts,
  type Scope,
} from "../access/scope.ts";
import { hideForeign } from "../containers/visible.ts";
import type { Deps } from "../deps.ts";

export interface JobView extends Omit<Job, "input" | "steps" | "tokenId"> {
  steps: Omit<JobStep, "value">[];
}

type JobTarget = Pick<Job, "targetType" | "target" | "stack">;

/** The kind of runs on hosts of the fleet, whose input has `hosts` with their ids. */
export const RUN_ON_HOSTS = "fleet.run";

/** The permission that shows a target shows its jobs. */
export const JOB_PERMISSIONS: Record<JobTargetType, `${string}:${string}`> = {
  image: "images:read",
  container: "containers:read",
  stack: "stacks:read",
  host: "system:read",
  service: "swarm:read",
  secret: "swarm_secrets:read",
  config: "swarm_secrets:read",
};

/** Leaves out what only the job's kind and its turn need. */
export function toView({ input: _input, tokenId: _tokenId, steps, ...job }: Job): JobView {
  return { ...job, steps: steps.map(({ value: _, ...step }) => step) };
}

/** Returns a function that says whether the caller may read a job. */
export function jobVisibility(
  { db }: Pick<Deps, "db">,
  caller: Caller,
): (job: Job) => boolean {
  let hosts: Set<string> | undefined;
  const seesHosts = ({ input }: Job) => {
    hosts ??= new Set(
      selectFleetHosts(db).filter((host) => seesHost(caller, host)).map(({ id }) => id),
    );
    return (input as { hosts: { id: string }[] }).hosts.every(({ id }) => hosts!.has(id));
  };
  return (job) =>
    mayDo(caller, "viewer", JOB_PERMISSIONS[job.targetType]) &&
    (includesTarget(caller.scope, job) || isOwnRun(caller, job) && seesHosts(job));
}

/** A caller who is limited to hosts of the fleet sees their own runs, while they see all its hosts. */
const isOwnRun = ({ scope, userId, apiToken }: Caller, job: Job): boolean =>
  isOfHosts(scope) && job.kind === RUN_ON_HOSTS && job.createdBy === userId &&
  job.tokenId === (apiToken?.id ?? null);

/** Whether a scope includes the target of a job. Images and the host belong to no stack. */
export function includesTarget(
  scope: Scope | undefined,
  { targetType, target, stack }: JobTarget,
): boolean {
  if (!isLimited(scope)) return true;
  if (targetType === "stack") return includesStack(scope, target);
  if (targetType === "service") return stack !== null && includesStack(scope, stack);
  return targetType === "container" &&
    includesContainer(scope, { name: target, composeProject: stack, labels: {} });
}

/** Returns the job without texts that mention containers outside of the caller's scope. */
export function redactJob(
  deps: Pick<Deps, "inventory">,
  caller: Pick<Caller, "scope">,
  job: JobView,
): JobView {
  if (!isLimited(caller.scope)) return job;
  const hide = textFilter(deps, caller, job);
  const hideIn = (text: string | null) => text === null ? null : hide(text);
  return {
    ...job,
    progress: job.progress && { ...job.progress, message: hideIn(job.progress.message) },
    steps: job.steps.map((step) => ({ ...step, message: hideIn(step.message) })),
    error: hideIn(job.error),
    result: JSON.parse(
      JSON.stringify(job.result),
      (_, value) => typeof value === "string" ? hide(value) : value,
    ),
  };
}

/**
 * Returns the job as a caller may see it: as {@linkcode redactJob}, without the log lines of failed
 * containers for one who may not read logs, and without the names of files that a backup left out for
 * one who may not back up.
 */
export function viewFor(deps: Pick<Deps, "inventory">, caller: Caller, job: Job): JobView {
  const view = redactJob(deps, caller, toView(job));
  const { result } = view;
  if (typeof result !== "object" || result === null) return view;
  const hidden = [
    ...(mayDo(caller, "viewer", "containers:logs") ? [] : ["evidence"]),
    ...(mayDo(caller, "operator", "backup:run") ? [] : ["skipped"]),
  ];
  if (hidden.length === 0) return view;
  const text = JSON.stringify(result, (field, value) => hidden.includes(field) ? undefined : value);
  return { ...view, result: JSON.parse(text) };
}

/** Returns the filter for texts of a job. Names of its own target stay. */
export function textFilter(
  deps: Pick<Deps, "inventory">,
  caller: Pick<Caller, "scope">,
  { target, stack }: JobTarget,
): (text: string) => string {
  return (text) => hideForeign(deps, caller, text, `${target} ${stack ?? ""}`);
}
