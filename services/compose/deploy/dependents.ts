/**
 * The containers outside of the services of a deploy that depend on those that it replaces: they are
 * recreated behind all services, and return with them.
 *
 * @module
 */

import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { inspectIfThere, type Member, type Pair } from "../../updates/run/members.ts";
import { createDependents } from "../../updates/run/replacements.ts";
import { putNewInPlace, stopAside } from "../../updates/run/swap.ts";
import type { DeployJob, PlannedDeploy } from "./job.ts";

const CREATE_STEP = "create dependents";

type Planned = Pick<PlannedDeploy, "dependents">;

/** Dependents with their new containers; none before these are created. */
export const dependentPairs = (job: DeployJob): Pair[] =>
  (job.resultOf(CREATE_STEP) as Pair[] | undefined) ?? [];

/** @param replaced What they depend on. */
export async function replaceDependents(
  deps: Deps,
  job: DeployJob,
  { dependents = [] }: Planned,
  replaced: readonly Pair[],
): Promise<void> {
  if (dependents.length === 0) return;
  const pairs = await job.step(CREATE_STEP, () => create(deps, dependents, replaced));
  await job.step("start dependents", async () => {
    await putNewInPlace(deps, pairs);
    return true;
  });
}

async function create(
  deps: Deps,
  dependents: readonly Member[],
  replaced: readonly Pair[],
): Promise<Pair[]> {
  const { DefaultRuntime: defaultRuntime } = await systemInfo(deps.engine);
  return await createDependents(deps, dependents, { replaced, defaultRuntime });
}

/**
 * Stops dependents that were not replaced, so that they are started in the namespace of the container
 * that returns: theirs ended with it. Those that the engine removes when they stop stay as they are.
 *
 * @returns Those to start.
 */
export async function stopDependents(
  deps: Deps,
  { dependents = [] }: Planned,
): Promise<Member[]> {
  const stopped: Member[] = [];
  for (const member of dependents.toReversed()) {
    const container = member.ran ? await inspectIfThere(deps.engine, member.oldId) : undefined;
    if (!container || container.HostConfig.AutoRemove) continue;
    await stopAside(deps, container);
    stopped.unshift(member);
  }
  return stopped;
}
