/** Starts deploys of stacks, and takes them down. @module */

import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { deleteStackVersions, selectCurrentVersion } from "../../../db/stack_versions.ts";
import { isLimited } from "../../access/scope.ts";
import type { Identity } from "../../containers/reservations.ts";
import { listAll } from "../../containers/reads.ts";
import { affectedBy, identityOf } from "../../containers/reserve.ts";
import { assertDependentsInScope } from "../../containers/share_group.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { assertInside, assertProjectInScope } from "../plan/boundary.ts";
import type { PlanOptions } from "../plan/options.ts";
import type { StackSummary } from "../source_view.ts";
import {
  type RehearsalChoice,
  rehearsalChoice,
  type RehearsalRequest,
} from "../../updates/rehearsal/choice.ts";
import { createStackSource, type NewSources, recordCurrent } from "../sources.ts";
import { assertCurrent, findVersion } from "../versions.ts";
import { observe } from "../plan/observe.ts";
import { assertServices, openStack, swarmOnlyStored } from "../plan/stored.ts";
import type { DeployInput, DownInput } from "./job.ts";
import { deployKind, downKind } from "./kinds.ts";
import { assertUsersInScope, partsInUse } from "./parts_in_use.ts";

export interface DeployRequest extends PlanOptions, RehearsalRequest {
  /** Default: the current one. */
  version?: number | undefined;
  /** Nothing is deployed unless this is the current version, e.g. that of the plan. */
  expectedVersion?: number | undefined;
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
    const { version: expectedVersion } = stack;
    return { ...stack, job: await startDeploy(deps, caller, source.name, { expectedVersion }) };
  } catch (error) {
    deleteStackVersions(deps.db, source.name);
    throw error;
  }
}

/**
 * Starts the deploy of a stack as a job. Its containers are reserved at once, together with those that
 * depend on them.
 *
 * @throws {AppError} `not_found` for a stack or version without sources; `invalid` for an unknown
 * service; `forbidden` if the scope of an API token does not include what it would change or use;
 * `conflict` while another action is in progress, and with a diff for another version than expected.
 */
export async function startDeploy(
  deps: Deps,
  caller: Caller,
  name: string,
  request: DeployRequest = {},
): Promise<JobView> {
  const stack = await recordAndOpen(deps, caller, name, request);
  assertServices(stack, request);
  const isConfined = isLimited(caller.scope);
  if (isConfined) {
    assertInside(stack, await observe(deps, stack));
    assertProjectInScope(caller.scope, stack.project);
  }
  return startJob(deps, deployKind, {
    target: name,
    input: {
      version: stack.version,
      ...commitOf(deps, name, stack.version),
      pull: request.pull ?? null,
      recreate: request.recreate ?? "changed",
      removeOrphans: request.removeOrphans ?? false,
      services: request.services ? [...request.services] : null,
      onFailure: request.onFailure ?? "rollback",
      stableSeconds: request.stableSeconds ?? null,
      healthTimeoutSeconds: request.healthTimeoutSeconds ?? null,
      rehearsal: await chosenRehearsal(deps, name, request),
      isConfined,
      affected: await affectedByStack(deps, caller, name),
    },
    caller,
  }).job;
}

function commitOf(
  deps: Pick<Deps, "db">,
  name: string,
  version: number,
): Pick<DeployInput, "commit"> {
  const { gitCommit } = findVersion(deps, name, version);
  if (!gitCommit) return {};
  const { id, author, message } = gitCommit;
  return { commit: { commit: id, author, message } };
}

/** As the request says, else the labels of the containers that are there, else the setting. */
async function chosenRehearsal(
  deps: Deps,
  name: string,
  request: RehearsalRequest,
): Promise<RehearsalChoice> {
  const own = (await listAll(deps)).filter(({ composeProject }) => composeProject === name);
  return await rehearsalChoice(deps, request, own);
}

/**
 * Starts the removal of a project's containers and networks as a job. The sources stay.
 *
 * @throws {AppError} `not_found` for an unknown stack; `forbidden` if containers outside of the scope
 * of an API token depend on it or its networks and volumes; `conflict` for a Swarm stack, and while another action is in progress.
 */
export async function startDown(
  deps: Deps,
  caller: Caller,
  name: string,
  request: Pick<DownInput, "volumes" | "images">,
): Promise<JobView> {
  const affected = await affectedByStack(deps, caller, name);
  if (affected.length === 0) {
    const stored = requireFound(selectCurrentVersion(deps.db, name), "Stack", name);
    if (stored.kind === "swarm") throw swarmOnlyStored(name, "rm");
  }
  if (isLimited(caller.scope)) {
    assertUsersInScope(caller.scope, await partsInUse(deps, name, request));
  }
  return startJob(deps, downKind, { target: name, input: { ...request, affected }, caller }).job;
}

/**
 * Records an edit on disk, and opens the version to deploy.
 *
 * @throws {AppError} `conflict` for a version that is not the expected one, or not on disk.
 */
async function recordAndOpen(
  deps: Deps,
  caller: Caller,
  name: string,
  { version, expectedVersion }: DeployRequest,
) {
  const { stored } = await recordCurrent(deps, name);
  if (expectedVersion !== undefined) assertCurrent(deps, caller, name, expectedVersion);
  // The stored version, not what may be on disk by now.
  const current = expectedVersion ?? stored.version;
  const stack = await openStack(deps, name, version ?? current);
  if (!stack.isOnDisk || stack.version === current) return stack;
  throw new AppError(
    "conflict",
    `Version ${version} of ${name} is not what is in ${stack.place?.directory}; ` +
      "store it again to deploy it",
  );
}

/**
 * The containers of a project, and behind them those that depend on them.
 *
 * @throws {AppError} `forbidden` if the scope does not include one of the latter.
 */
async function affectedByStack(
  deps: Deps,
  { scope }: Pick<Caller, "scope">,
  name: string,
): Promise<Identity[]> {
  const all = await listAll(deps);
  const own = all.filter(({ composeProject }) => composeProject === name);
  for (const each of own) assertDependentsInScope(scope, each, all);
  return [...own.map(identityOf), ...own.flatMap((each) => affectedBy(each, all))];
}
