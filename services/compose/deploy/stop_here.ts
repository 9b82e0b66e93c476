/** Ends a failed deploy where it is. @module */

import type { Deps } from "../../deps.ts";
import { refersTo } from "../../containers/share_group.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { putNewInPlace, removeOldOnes } from "../../updates/run/swap.ts";
import {
  createAttempts,
  type FailedStack,
  pairsOf,
  refsOf,
  restoreServices,
  startStep,
} from "./back.ts";
import { dependentPairs, replaceDependents } from "./dependents.ts";
import type { DeployJob, ServiceWork } from "./job.ts";
import { REPLACE_NETWORKS, restoreNetworks } from "./networks.ts";
import { reasonOf } from "./stored_failure.ts";

/**
 * The services that keep their new containers: those that were started, and those whose old containers
 * share a namespace of one that they replaced, so that the engine would not start them again.
 */
async function keptServices(
  deps: Deps,
  job: DeployJob,
  services: readonly ServiceWork[],
): Promise<ServiceWork[]> {
  const kept: ServiceWork[] = [];
  for (const work of services) {
    if (job.resultOf(startStep(work.key)) !== true) {
      const pairs = pairsOf(job, [work]);
      const olds = await Promise.all(pairs.map(({ oldId }) => inspectIfThere(deps.engine, oldId)));
      const refs = await refsOf(deps, pairs);
      const replaced = pairsOf(job, kept).map(({ oldId: id, name }) => ({ id, name }));
      const isBound = replaced.some((each) => refs.some((ref) => refersTo(ref, each)));
      // The step removes old containers: after a crash, some may be gone.
      if (!isBound && !olds.includes(undefined)) continue;
      try {
        await putNewInPlace(deps, pairs);
      } catch (error) {
        // They are in place; the reason of the deploy's failure says why they do not run.
        await throwIfInterrupted(deps, error);
      }
    }
    kept.push(work);
  }
  return kept;
}

/**
 * Ends a deploy where it is: services that were started keep their new containers, others their old
 * ones, if these can still run.
 *
 * @throws {JobEnd}
 */
export async function stopHere(
  deps: Deps,
  job: DeployJob,
  { stack, planned, failed }: FailedStack,
): Promise<never> {
  const reason = reasonOf(job);
  const problems = await job.step("clean up", async () => {
    const { attempt, problems } = createAttempts(deps, stack);
    const { existing, services } = planned;
    if (job.hasBegun(REPLACE_NETWORKS)) {
      await restoreNetworks(deps, stack.project, planned, { to: "now", attempt });
    }
    const kept = await keptServices(deps, job, services);
    const others = services.filter((work) => !kept.includes(work));
    const restored = { existing, services: others, removed: [], dependents: [] };
    await restoreServices(deps, job, stack, restored, attempt);
    const replaced = pairsOf(job, kept);
    if (replaced.length > 0) {
      await attempt(() => replaceDependents(deps, job, planned, replaced));
    }
    await removeOldOnes(deps, [...replaced, ...dependentPairs(job)]);
    if (job.hasBegun("stop removed")) {
      await removeOldOnes(deps, planned.removed.map((each) => ({ ...each, newId: "" })));
    }
    return problems;
  });
  if (problems.length === 0) throw new JobEnd("failed", reason, failed);
  const message = `${reason}; clean-up incomplete: ${problems.join("; ")}`;
  throw new JobEnd("needs_attention", message, failed);
}
