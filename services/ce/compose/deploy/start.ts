/**
 * Starts deploys of stacks, and takes them down.
 *
 * @module
 */

import type { Caller } from "../../../auth/caller.ts";
import type { Deps } from "../../../deps.ts";
import { AppError, requireFound } from "../../../errors.ts";
import { deleteStackVersions, selectCurrentVersion } from "../../../../db/ce/stack_versions.ts";
import { identityOf } from "../../containers/reserve.ts";
import { currentContainers } from "../../containers/reads.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import type { PlanOptions } from "../plan/options.ts";
import type { StackSummary } from "../source_view.ts";
import { createStackSource, type NewSources } from "../sources.ts";
import { assertServices, openStack, swarmOnlyStored } from "../plan/stored.ts";
import type { DeployInput, DownInput } from "./job.ts";
import { deployKind, downKind } from "./kinds.ts";

export interface DeployRequest extends PlanOptions {
  /** Default: the current one. */
  version?: number | undefined;
  pull?: PullPolicy | undefined;
  onFailure?: DeployInput["onFailure"] | undefined;
  stableSeconds?: number | undefined;
  /** Limit of the wait for each dependency, and for the verdict about new containers. */
  healthTimeoutSeconds?: number | undefined;
}

/**
 * Stores the sources of a new stack and starts their deploy. If it cannot start, nothing is stored;
 * files that were written stay.
 *
 * @throws {AppError} As `createStackSource()` and `startDeploy()`.
 */
export async function createStack(
  deps: Deps,
  caller: Caller,
  { deploy, ...source }: NewSources & { deploy: boolean },
): Promise<StackSummary & { job: JobView | null }> {
  const stack = await createStackSource(deps, caller, source);
  if (!deploy || source.kind === "swarm") return { ...stack, job: null };
  try {
    return { ...stack, job: await startDeploy(deps, caller, source.name) };
  } catch (error) {
    deleteStackVersions(deps.db, source.name);
    throw error;
  }
}

/**
 * Starts the deploy of a stack as a job. Its containers are reserved at once.
 *
 * @throws {AppError} `not_found` for a stack or version without sources; `invalid` for an unknown
 * service; `conflict` while another action is in progress.
 */
export async function startDeploy(
  deps: Deps,
  caller: Pick<Caller, "userId">,
  name: string,
  request: DeployRequest = {},
): Promise<JobView> {
  const stack = await openVersion(deps, name, request.version);
  assertServices(stack, request);
  return startJob(deps, deployKind, {
    target: name,
    input: {
      version: stack.version,
      pull: request.pull ?? null,
      recreate: request.recreate ?? "changed",
      removeOrphans: request.removeOrphans ?? false,
      services: request.services ? [...request.services] : null,
      onFailure: request.onFailure ?? "rollback",
      stableSeconds: request.stableSeconds ?? null,
      healthTimeoutSeconds: request.healthTimeoutSeconds ?? null,
      affected: await containersOfProject(deps, name),
    },
    caller,
  }).job;
}

/**
 * Starts the removal of a project's containers and networks as a job. The sources stay.
 *
 * @throws {AppError} `not_found` for an unknown stack; `conflict` for a Swarm stack, and while
 * another action is in progress.
 */
export async function startDown(
  deps: Deps,
  caller: Pick<Caller, "userId">,
  name: string,
  request: Pick<DownInput, "volumes" | "images">,
): Promise<JobView> {
  const affected = await containersOfProject(deps, name);
  if (affected.length === 0) {
    const stored = requireFound(selectCurrentVersion(deps.db, name), "Stack", name);
    if (stored.kind === "swarm") throw swarmOnlyStored(name, "rm");
  }
  return startJob(deps, downKind, { target: name, input: { ...request, affected }, caller }).job;
}

/** @throws {AppError} `conflict` for a version that is not what is on disk. */
async function openVersion(deps: Deps, name: string, version: number | undefined) {
  const current = await openStack(deps, name);
  if (version === undefined || version === current.version) return current;
  const requested = await openStack(deps, name, version);
  if (!requested.place) return requested;
  throw new AppError(
    "conflict",
    `Version ${version} of ${name} is not what is in ${requested.place.directory}; ` +
      "store it again to deploy it",
  );
}

async function containersOfProject(deps: Deps, name: string) {
  return (await currentContainers(deps)).filter(({ composeProject }) => composeProject === name)
    .map(identityOf);
}
