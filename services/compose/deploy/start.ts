/** Starts deploys of stacks, and takes them down. @module */

import { type Caller, includesRole } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { selectCurrentVersion } from "../../../db/stack_versions.ts";
import { isLimited } from "../../access/scope.ts";
import { directoryIdentity, type Identity, volumeIdentity } from "../../containers/reservations.ts";
import { listAll } from "../../containers/reads.ts";
import { affectedBy, identityOf } from "../../containers/reserve.ts";
import { assertDependentsInScope } from "../../containers/share_group.ts";
import { hideValues } from "../../containers/secret_values.ts";
import { readSwarmServices } from "../../swarm/services.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { Project } from "../load/resolve.ts";
import { assertInside, assertProjectInScope } from "../plan/boundary.ts";
import type { StackSummary } from "../source_view.ts";
import {
  type RehearsalChoice,
  rehearsalChoice,
  type RehearsalRequest,
} from "../../updates/rehearsal/choice.ts";
import type { DataPlan } from "../../updates/data/plan.ts";
import type { Obstacle } from "../../updates/run/survey.ts";
import { readUpdateSettings } from "../../updates/settings.ts";
import { createStackSource, type NewSources, recordCurrent } from "../sources.ts";
import { assertCurrent, findVersion, removeVersions } from "../versions.ts";
import { observe } from "../plan/observe.ts";
import type { Observed } from "../plan/observed.ts";
import type { StackPlan } from "../plan/plan.ts";
import { assertServices, type LoadedStack, openStack } from "../plan/stored.ts";
import { assertOfSwarm, isSwarmStack, startSwarmDeploy, startSwarmDown } from "../swarm/start.ts";
import type { DeployInput, DownInput } from "./job.ts";
import { deployKind, downKind } from "./kinds.ts";
import type { DeployRequest } from "./request.ts";
import { assertUsersInScope, partsInUse } from "./parts_in_use.ts";

export interface DeployPreview extends Pick<StackPlan, "changes" | "warnings"> {
  version: number;
  /** Whether it is rehearsed first. */
  rehearse: boolean;
  obstacles: Obstacle[];
  data: DataPlan;
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
  if (!deploy) return { ...stack, job: null };
  try {
    const { version: expectedVersion } = stack;
    return { ...stack, job: await startDeploy(deps, caller, source.name, { expectedVersion }) };
  } catch (error) {
    removeVersions(deps, source.name);
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
 * @param earlier What a rollback goes back to besides the sources; `assertLast` fails if the stack has
 * been changed since that was read.
 */
export async function startDeploy(
  deps: Deps,
  caller: Caller,
  name: string,
  request: DeployRequest = {},
  { assertLast, ...earlier }: Pick<DeployInput, "images" | "restored"> & {
    assertLast?(): void;
  } = {},
): Promise<JobView> {
  if (isSwarmStack(deps, name)) {
    return await startSwarmDeploy(
      deps,
      caller,
      await recordAndOpen(deps, caller, name, request),
      request,
    );
  }
  const { stack, observed } = await openDeploy(deps, caller, name, request);
  const rehearsal = await chosenRehearsal(deps, name, request);
  const { restored } = earlier;
  const undo = rehearsal === "only" ? {} : restored
    ? {
      targetId: restored.targetId,
      place: restored.place,
      undone: Object.keys(stack.project.services),
    }
    : await (await import("./data.ts")).prepareDeployUndo(deps, stack, observed, request);
  const affected = await affectedByStack(deps, caller, name);
  assertLast?.();
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
      rehearsal,
      ...undo,
      ...earlier,
      isConfined: isLimited(caller.scope),
      mounted: mountedBy(stack.project),
      affected,
    },
    caller,
  }).job;
}

/** Volumes and directories, whose restore would overwrite what new containers read. */
function mountedBy({ services, volumes }: Project): Identity[] {
  const mounts = Object.values(services).flatMap((service) => service.volumes ?? []);
  const identities = mounts.flatMap(({ type, source }) => {
    if (!source) return [];
    if (type === "bind") return directoryIdentity(source);
    const name = type === "volume" ? volumes[source]?.name : undefined;
    return name === undefined ? [] : volumeIdentity(name);
  });
  return [...new Map(identities.map((each) => [each.id, each])).values()];
}

/** Says what a deploy would do and keep. @throws {AppError} As {@linkcode startDeploy}. */
export async function previewDeploy(
  deps: Deps,
  caller: Caller,
  name: string,
  request: DeployRequest,
): Promise<DeployPreview> {
  if (isSwarmStack(deps, name)) return await previewSwarmDeploy(deps, caller, name, request);
  const { stack, observed } = await openDeploy(deps, caller, name, request);
  await affectedByStack(deps, caller, name);
  const { previewDeployUndo } = await import("./data.ts");
  const { planProject } = await import("../plan/plan.ts");
  const { shownPlan } = await import("../plan/shown.ts");
  const { changes, warnings, refusals } = planProject(stack.project, observed, request);
  const undo = await previewDeployUndo(deps, stack, observed, request);
  const shown = { changes, warnings: [...stack.warnings, ...warnings, ...undo.warnings] };
  const hidden = includesRole(caller.role, "admin") ? [] : stack.secretValues;
  return {
    version: stack.version,
    rehearse: await chosenRehearsal(deps, name, request) !== null,
    ...shownPlan(shown, hidden),
    obstacles: [
      ...refusals.map((message) => ({ message: hideValues(message, hidden), canForce: false })),
      ...undo.obstacles.map((each) => ({ ...each, canForce: false })),
    ],
    data: undo.data,
  };
}

/** Volumes of a Swarm stack are on any node: none is kept. */
async function previewSwarmDeploy(
  deps: Deps,
  caller: Caller,
  name: string,
  request: DeployRequest,
): Promise<DeployPreview> {
  const { planSwarmStack } = await import("../swarm/plan.ts");
  assertOfSwarm(request);
  const keptDays = readUpdateSettings(deps).keepPreviousDays;
  return {
    ...await planSwarmStack(deps, caller, name, request),
    rehearse: false,
    obstacles: [],
    data: { choice: "keep", target: null, volumes: [], keptDays },
  };
}

/** Opens what a request deploys, with what the engine has of it. */
async function openDeploy(
  deps: Deps,
  caller: Caller,
  name: string,
  request: DeployRequest,
): Promise<{ stack: LoadedStack; observed: Observed }> {
  const stack = await recordAndOpen(deps, caller, name, request);
  assertServices(stack, request);
  const observed = await observe(deps, stack);
  if (isLimited(caller.scope)) {
    assertInside(stack, observed);
    assertProjectInScope(caller.scope, stack.project);
  }
  return { stack, observed };
}

function commitOf(
  deps: Pick<Deps, "db">,
  name: string,
  version: number,
): Pick<DeployInput, "commit"> {
  const { gitCommit } = findVersion(deps, name, version);
  if (!gitCommit) return {};
  const { id, author, message, signer } = gitCommit;
  return { commit: { commit: id, author, message, ...(signer !== null && { signer }) } };
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
 * of an API token depend on it or its networks and volumes; `conflict` while another action is in progress.
 */
export async function startDown(
  deps: Deps,
  caller: Caller,
  name: string,
  request: Pick<DownInput, "volumes" | "images">,
): Promise<JobView> {
  const affected = await affectedByStack(deps, caller, name);
  if (affected.length === 0) {
    if (await hasSwarmStack(deps, name)) return await startSwarmDown(deps, caller, name);
    requireFound(selectCurrentVersion(deps.db, name), "Stack", name);
  }
  if (isLimited(caller.scope)) {
    assertUsersInScope(caller.scope, await partsInUse(deps, name, request));
  }
  return startJob(deps, downKind, { target: name, input: { ...request, affected }, caller }).job;
}

/** Whether a stack has stored sources of a Swarm stack, or services that were deployed elsewhere. */
async function hasSwarmStack(deps: Deps, name: string): Promise<boolean> {
  if (isSwarmStack(deps, name)) return true;
  return (await readSwarmServices(deps))?.some(({ stack }) => stack === name) ?? false;
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
  const stack = await openStack(deps, name, version ?? current, stored.kind);
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
