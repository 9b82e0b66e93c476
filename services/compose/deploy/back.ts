/** Ends of a failed deploy: back to the state before it, or a stop where it is. @module */

import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { isLeftStopped, tryOwnPolicy } from "../../containers/left_stopped.ts";
import type { Identity } from "../../containers/reservations.ts";
import { asContainer, refreshContainer } from "../../containers/reads.ts";
import { hideValues } from "../../containers/secret_values.ts";
import { refersTo } from "../../containers/share_group.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { isUp, nameOf, removeAndWait } from "../../updates/recreate/replace.ts";
import { KEEP } from "../../updates/data/step_names.ts";
import {
  bringBack,
  type DataRun,
  type DataState,
  describeData,
  removeCopy,
} from "../../updates/data/steps.ts";
import { nameAgain } from "../../updates/run/image_name.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { messageOf } from "../../updates/run/job.ts";
import {
  inspectIfThere,
  type Member,
  type Pair,
  setRestartPolicy,
} from "../../updates/run/members.ts";
import { discard } from "../../updates/run/replacements.ts";
import { policyInPlace, putOldBack, start, stopAside } from "../../updates/run/swap.ts";
import { keepLiving, leaveStopped } from "../../updates/run/stuck.ts";
import type { LoadedStack } from "../plan/stored.ts";
import { dependentPairs, stopDependents } from "./dependents.ts";
import type {
  Attempt,
  CreatedContainers,
  DeployJob,
  FailedDeploy,
  NamedImage,
  PlannedDeploy,
  ServiceWork,
} from "./job.ts";
import { REPLACE_NETWORKS, restoreNetworks } from "./networks.ts";
import { removeCreatedParts } from "./created_parts.ts";
import { inUseWarnings } from "./parts_in_use.ts";
import { containersOf } from "./services.ts";
import { reasonOf } from "./stored_failure.ts";

export interface FailedStack {
  stack: LoadedStack;
  planned: PlannedDeploy;
  /** The result of the job. */
  failed: FailedDeploy;
}

const ROLL_BACK = "roll back";

/** Value of the step {@linkcode ROLL_BACK}. */
interface RolledBack {
  /** Why something did not return. */
  problems: string[];
  state: DataState;
}

/** Records of the step that creates the containers of a service. */
export const createdOf = (job: DeployJob, key: string): CreatedContainers | undefined =>
  job.resultOf(`create ${key}`) as CreatedContainers | undefined;

/** The step that starts the containers of a service; its result is true. */
export const startStep = (key: string) => `start ${key}`;

/** The containers that replace others, as far as they were created. */
export const pairsOf = (job: DeployJob, services: readonly ServiceWork[]): Pair[] =>
  services.flatMap(({ key }) => createdOf(job, key)?.pairs ?? []);

const notDeployed = (stack: string) =>
  `The stack ${stack} is not deployed, and its sources are kept: change and deploy it again, or ` +
  "delete the stack";

/**
 * Returns the stack to the state before the deploy. What cannot be restored does not keep the rest
 * from it.
 *
 * @throws {JobEnd}
 */
export async function goBack(
  deps: Deps,
  job: DeployJob,
  { stack, planned, failed, named, data }: FailedStack & {
    named: readonly NamedImage[];
    data: DataRun;
  },
): Promise<never> {
  const known = job.resultOf(ROLL_BACK) as RolledBack | undefined;
  const state = known?.state ?? await bringBack(deps, data);
  const reason = `${reasonOf(job)}${describeData(state.data)}`;
  const kept = state.data ? { ...failed, data: state.data } : failed;
  if (state.has !== "old") {
    return await stayStuck(deps, job, { stack, planned, failed: kept, state });
  }
  const { problems } = await job.step(ROLL_BACK, async (): Promise<RolledBack> => {
    const { attempt, problems } = createAttempts(deps, stack);
    const dependents = dependentPairs(job);
    const hasReplaced = planned.services.some(({ key, replaced }) =>
      replaced.length > 0 && job.hasBegun(startStep(key))
    );
    const stopped: Member[] = [];
    if ((hasReplaced || job.hasBegun(KEEP)) && dependents.length === 0) {
      await attempt(async () => void stopped.push(...await stopDependents(deps, planned)));
    }
    if (job.hasBegun(REPLACE_NETWORKS)) {
      await restoreNetworks(deps, stack.project, planned, { to: "before", attempt });
    }
    await restoreServices(deps, job, stack, { ...planned, dependents }, attempt);
    for (const member of stopped) await attempt(() => startAgain(deps, member));
    await attempt(() => restoreNames(deps, named));
    return { problems, state };
  });
  const parts = await job.step("remove new networks and volumes", async () => {
    const { attempt, problems } = createAttempts(deps, stack);
    const inUse = await removeCreatedParts(deps, job, stack.project, planned, attempt);
    return { problems, warnings: inUseWarnings(inUse) };
  });
  const warnings = [...failed.warnings, ...parts.warnings];
  if (planned.existing.length === 0) warnings.push(notDeployed(job.target));
  await removeCopy(deps, job);
  const result = { ...kept, warnings };
  const all = [...problems, ...parts.problems];
  if (all.length === 0) throw new JobEnd("rolled_back", reason, result);
  const message = `${reason}; rollback incomplete: ${all.join("; ")}`;
  throw new JobEnd("needs_attention", message, result);
}

/**
 * Ends a deploy whose data could not be brought back. On what they wrote, the new containers stay; on a
 * part of the data, none runs.
 *
 * @throws {JobEnd}
 */
async function stayStuck(
  deps: Deps,
  job: DeployJob,
  { stack, planned: { services }, failed, state }: FailedStack & {
    state: Exclude<DataState, { has: "old" }>;
  },
): Promise<never> {
  const { problems } = await job.step(ROLL_BACK, async (): Promise<RolledBack> => {
    const { attempt, problems } = createAttempts(deps, stack);
    const pairs = [...pairsOf(job, services), ...dependentPairs(job)];
    if (state.has === "part") {
      await attempt(() => leaveStopped(deps, pairs));
      return { problems, state };
    }
    await attempt(() => keepLiving(deps, pairs));
    for (const { key, started } of services) {
      if (!job.hasBegun(startStep(key))) continue;
      for (const { id } of [...createdOf(job, key)?.fresh ?? [], ...started]) {
        const container = await inspectIfThere(deps.engine, id);
        if (!container || isUp(container)) continue;
        await attempt(async () => {
          await tryOwnPolicy(deps, id);
          await start(deps.engine, container);
        });
      }
    }
    return { problems, state };
  });
  const message = [reasonOf(job), state.problem, ...problems].join("; ");
  throw new JobEnd("needs_attention", message, failed);
}

/** Runs steps of which a failure does not stop the others. */
export function createAttempts(
  deps: Deps,
  { secretValues }: Pick<LoadedStack, "secretValues">,
): { attempt: Attempt; problems: string[] } {
  const problems: string[] = [];
  return {
    problems,
    async attempt(work) {
      try {
        await work();
      } catch (error) {
        await throwIfInterrupted(deps, error);
        problems.push(hideValues(messageOf(deps, error), secretValues));
      }
    },
  };
}

/** Returns the containers of services, and the removed ones, to the state before the deploy. */
export async function restoreServices(
  deps: Deps,
  job: DeployJob,
  stack: LoadedStack,
  { existing, services, removed, dependents }:
    & Pick<PlannedDeploy, "existing" | "services" | "removed">
    & { dependents: readonly Pair[] },
  attempt: Attempt,
): Promise<void> {
  const pairs = [...pairsOf(job, services), ...dependents];
  const kept = new Set([...existing, ...pairs.map(({ newId }) => newId)]);
  // Also those of a step that was interrupted. Dependents have higher positions.
  for (const { key } of services.toReversed()) {
    await attempt(async () => {
      for (const { Id } of await containersOf(deps, stack, key)) {
        if (kept.has(Id)) continue;
        await attempt(() => removeAndWait(deps.engine, Id, { volumes: true }));
        await refreshContainer(deps, Id);
      }
    });
  }
  const refs = await refsOf(deps, [...pairs, ...removed].filter(({ ran }) => ran));
  const isUsed = (each: Identity) => refs.some((ref) => refersTo(ref, each));
  const isLent = (member: Member) => !member.ran && isUsed(identityOf(member));
  if (job.hasBegun(REPLACE_NETWORKS) || job.hasBegun(KEEP)) {
    // They were stopped before their replacements were created.
    const alone = services.filter(({ key }) => !createdOf(job, key));
    for (const member of alone.flatMap(({ replaced }) => replaced)) {
      await attempt(() => startAgain(deps, member));
    }
  }
  const started = services.flatMap(({ started }) => started);
  const [used, unused] = [true, false].map((isIt) =>
    removed.filter((member) => isUsed(identityOf(member)) === isIt)
  );
  for (const each of started) if (!isUsed(each)) await attempt(() => stopAgain(deps, each));
  for (const member of used!) await attempt(() => startAgain(deps, { ...member, ran: true }));
  // The engine does not start what shares a namespace of a stopped container, so that this one runs
  // meanwhile.
  const olds = pairs.map((pair) => isLent(pair) ? { ...pair, ran: true, worked: false } : pair);
  await putAllBack(deps, olds, attempt);
  for (const member of unused!) await attempt(() => startAgain(deps, member));
  const lent = [...pairs, ...removed].filter(isLent).map(identityOf);
  for (const each of [...started.filter(isUsed), ...lent]) {
    await attempt(() => stopAgain(deps, each));
  }
}

const identityOf = ({ oldId, name }: Member): Identity => ({ id: oldId, name });

/** One that cannot return, because what it shares is gone, does not keep the others from it. */
async function putAllBack(deps: Deps, pairs: readonly Pair[], attempt: Attempt): Promise<void> {
  try {
    const { problems } = await putOldBack(deps, pairs);
    for (const each of problems) {
      await attempt(() => Promise.reject(new AppError("conflict", each)));
    }
  } catch (error) {
    await throwIfInterrupted(deps, error);
    for (const pair of pairs) await attempt(() => putBackAlone(deps, pair));
  }
}

/** @throws {AppError} `conflict` if the old container cannot return, or where a new one remains. */
async function putBackAlone(deps: Deps, pair: Pair): Promise<void> {
  const { engine } = deps;
  let problems: string[];
  try {
    ({ problems } = await putOldBack(deps, [pair]));
  } catch (error) {
    await throwIfInterrupted(deps, error);
    const fresh = await inspectIfThere(engine, pair.newId);
    // Without the old one, only the new one has its anonymous volumes.
    const isSpare = await inspectIfThere(engine, pair.oldId) !== undefined;
    if (isSpare && fresh && !isUp(fresh)) await discard(deps, [pair]);
    const left = await inspectIfThere(engine, pair.newId);
    throw left ? new AppError("conflict", `${messageOf(deps, error)} (${whereIs(left)})`) : error;
  }
  if (problems.length > 0) throw new AppError("conflict", problems.join("; "));
}

const whereIs = (container: ContainerInspect) =>
  isUp(container)
    ? "the new one is running"
    : `the new one is stopped as ${nameOf(container)}; deploy again to replace it`;

/** References to the containers that old ones share namespaces of. */
export async function refsOf(deps: Deps, members: readonly Member[]): Promise<string[]> {
  const olds = await Promise.all(members.map(({ oldId }) => inspectIfThere(deps.engine, oldId)));
  return olds.flatMap((old) => old ? asContainer(deps, old).shares : []);
}

/** Lets references name the images again that they named before the pull, and that are still there. */
export async function restoreNames(deps: Deps, named: readonly NamedImage[]): Promise<void> {
  for (const { reference, imageId } of named) {
    if (imageId !== null) await nameAgain(deps, reference, imageId);
  }
}

async function stopAgain(deps: Deps, { id }: Identity): Promise<void> {
  const container = await inspectIfThere(deps.engine, id);
  const isLeft = isLeftStopped(deps.db, id);
  if (!container || !(isLeft || isUp(container))) return;
  await stopAside(deps, container);
  if (isLeft) return;
  const { RestartPolicy = { Name: "no" } } = container.HostConfig;
  await setRestartPolicy(deps.engine, await containerInspect(deps.engine, id), RestartPolicy);
}

async function startAgain(deps: Deps, member: Member): Promise<void> {
  const { oldId, ran, name } = member;
  const container = await inspectIfThere(deps.engine, oldId);
  if (!container) throw new AppError("conflict", `${name} no longer exists`);
  await setRestartPolicy(deps.engine, container, policyInPlace(deps, member));
  if (ran && !isUp(container)) await start(deps.engine, container);
  await refreshContainer(deps, oldId);
}
