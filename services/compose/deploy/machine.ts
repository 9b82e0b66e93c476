/**
 * The steps of a deploy: pulled → planned → networks and volumes → each service created and
 * started → dependents of replaced containers recreated → verified → committed, or rolled back. Old
 * containers stay until the verdict about all new ones. Every step starts from what the job recorded
 * and from the engine's current state, so that after a crash the job goes on, or back, where it was.
 *
 * @module
 */

import { EngineError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { hideValues } from "../../containers/secret_values.ts";
import { copyData, dataOf, keepData, removeCopy } from "../../updates/data/steps.ts";
import { nameImage } from "../../updates/run/image_name.ts";
import { throwIfInterrupted, watchEngine } from "../../updates/run/interruption.ts";
import { removeOldOnes, restartStopped } from "../../updates/run/swap.ts";
import { stoppedMeanwhile } from "../../updates/run/stopped_meanwhile.ts";
import { type Verified, verify } from "../../updates/run/verify.ts";
import { dependenciesOf } from "../load/resolve.ts";
import { observe } from "../plan/observe.ts";
import { planProject } from "../plan/plan.ts";
import { type LoadedStack, openStack } from "../plan/stored.ts";
import { assertBuilt } from "../builds.ts";
import { createdOf, goBack, pairsOf, restoreNames, startStep } from "./back.ts";
import { dataRunOf } from "./data_run.ts";
import { dependentPairs, replaceDependents } from "./dependents.ts";
import { recordFailure } from "./failure.ts";
import { type DeployJob, type DeployResult, type PlannedDeploy, withoutSecrets } from "./job.ts";
import { keepImages } from "./kept_images.ts";
import { REPLACE_NETWORKS, replaceNetworks } from "./networks.ts";
import { createNetwork, createVolume, findOwnNetwork, networkStep } from "./parts.ts";
import { changedContainers, nameImages, planDeploy, pullImages } from "./planned.ts";
import { createContainers, startContainers, waitForDependencies } from "./services.ts";
import { stopWithHooks } from "./stop.ts";
import { stopHere } from "./stop_here.ts";
import { hasFailure, storeFailure } from "./stored_failure.ts";

/** Time that a container without a health check has to run, in seconds. */
const STABLE_S = 10;

/** Runs the job from where it is. */
export async function deployStack(deps: Deps, given: DeployJob): Promise<DeployResult> {
  const { version, onFailure } = given.input;
  const stack = await openStack(deps, given.target, version);
  const job = withoutSecrets(given, stack.secretValues);
  const named = await job.step("read", async () => {
    await assertBuilt(deps, stack.builds);
    return nameImages(deps, stack);
  });
  let planned: PlannedDeploy;
  let rehearsed: Pick<DeployResult, "rehearsal"> = {};
  try {
    await job.step("pull", async () => {
      for (const { reference, imageId } of job.input.images ?? []) {
        if (imageId !== null) await nameImage(deps, reference, imageId);
      }
      await pullImages(deps, job, stack);
    });
    planned = await job.step("plan", () => planDeploy(deps, job, stack));
    const known = planned;
    if (job.input.rehearsal) {
      const { rehearseDeploy } = await import("./rehearsal.ts");
      const verdict = await job.step("rehearse", () => rehearseDeploy(deps, job, stack, known));
      if (verdict !== null) rehearsed = { rehearsal: verdict };
    }
    if (job.input.rehearsal !== "only") await copyData(deps, dataRunOf(deps, job, stack, planned));
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    await restoreNames(deps, named);
    throw failure;
  }
  if (job.input.rehearsal === "only") {
    await restoreNames(deps, named);
    return { version, changes: [], warnings: planned.warnings, ...rehearsed };
  }
  using mark = deps.reservations.markReplaced(changedContainers(stack, planned));
  const { changes, untouched = [] } = planned;
  // A rollback that was begun is completed.
  if (!hasFailure(job)) {
    try {
      await carryOut(deps, job, stack, planned);
      mark[Symbol.dispose]();
      await commit(deps, job, planned);
      const warnings = [
        ...await withUnapplied(deps, job, stack, planned),
        ...await stoppedMeanwhile(deps.engine, untouched),
      ];
      const data = dataOf(job);
      return { version, changes, warnings, ...rehearsed, ...(data && { data }) };
    } catch (error) {
      const failure = await throwIfInterrupted(deps, error);
      // The commit removes old containers, so that it cannot be rolled back.
      if (job.hasBegun("commit")) throw failure;
      await storeFailure(deps, job, error);
    }
  }
  const recorded = await recordFailure(deps, job, planned);
  const stopped = await stoppedMeanwhile(deps.engine, untouched);
  const failed = { version, ...recorded, warnings: [...recorded.warnings, ...stopped] };
  return onFailure === "stop"
    ? await stopHere(deps, job, { stack, planned, failed })
    : await goBack(deps, job, {
      stack,
      planned,
      failed,
      named,
      data: dataRunOf(deps, job, stack, planned),
    });
}

/** Adds what the engine left out of the containers that it created, which only they show. */
async function withUnapplied(
  deps: Deps,
  job: DeployJob,
  stack: LoadedStack,
  { warnings, services }: PlannedDeploy,
): Promise<string[]> {
  if (services.length === 0) return warnings;
  const unapplied = await job.step("compare", async () => {
    try {
      const { services: selected } = job.input;
      const observed = await observe(deps, stack);
      return planProject(stack.project, observed, { services: selected ?? undefined }).unapplied
        .map((text) => hideValues(text, stack.secretValues));
    } catch (error) {
      // The stack is deployed; the next plan says it.
      if (error instanceof EngineError) return [];
      throw error;
    }
  });
  return [...new Set([...warnings, ...unapplied])];
}

async function carryOut(
  deps: Deps,
  job: DeployJob,
  stack: LoadedStack,
  planned: PlannedDeploy,
): Promise<void> {
  const { project } = stack;
  const { networks, replacedNetworks = [], volumes, services, removed } = planned;
  if (replacedNetworks.length > 0) {
    await job.step(REPLACE_NETWORKS, () => replaceNetworks(deps, job, project, planned));
  }
  // A step that is repeated after a crash finds its own.
  for (const key of networks) {
    await job.step(networkStep(key), async () => {
      return (await findOwnNetwork(deps, project, key))?.Id ??
        await createNetwork(deps, project, key);
    });
  }
  for (const key of volumes) {
    await job.step(`volume ${key}`, async () => {
      await createVolume(deps, project, key);
      return true;
    });
  }
  if (removed.length > 0) {
    const members = removed.toReversed().map(({ oldId: id, key: service }) => ({ id, service }));
    await job.step("stop removed", () => stopWithHooks(deps, project, members, job.signal));
  }
  if (services.length > 0) {
    await keepData(deps, dataRunOf(deps, job, stack, planned));
    await deployServices(deps, job, stack, planned);
    await replaceDependents(deps, job, planned, pairsOf(job, services));
    await verifyAll(deps, job, stack, planned);
  }
}

/** Removes the containers that were replaced, and those that are not wanted any more. */
async function commit(
  deps: Deps,
  job: DeployJob,
  { services, removed }: PlannedDeploy,
): Promise<void> {
  const pairs = [...pairsOf(job, services), ...dependentPairs(job)];
  if (pairs.length > 0 || removed.length > 0) {
    await job.step("commit", async () => {
      const all = [...pairs, ...removed.map((each) => ({ ...each, newId: "" }))];
      await keepImages(deps, job.target, all);
      await removeOldOnes(deps, all);
    });
  }
  await removeCopy(deps, job);
}

/** Services are deployed in parallel, each as soon as those that it depends on were. */
async function deployServices(
  deps: Deps,
  job: DeployJob,
  stack: LoadedStack,
  { services, existing, removed }: PlannedDeploy,
): Promise<void> {
  const { input: { healthTimeoutSeconds, anonymousVolumes = [] }, signal } = job;
  const failed = new AbortController();
  const known = new Set(existing);
  const replaced = new Set(
    [...removed, ...services.flatMap(({ replaced }) => replaced)].map(({ oldId }) => oldId),
  );
  const done = new Map<string, Promise<void>>();
  const total = services.length;
  let current = 0;
  const deploy = async (work: PlannedDeploy["services"][number]) => {
    const { key } = work;
    const dependencies = Object.keys(dependenciesOf(stack.project.services[key]!));
    await Promise.all(dependencies.map((dependency) => done.get(dependency)));
    failed.signal.throwIfAborted();
    const created = await job.step(
      `create ${key}`,
      () =>
        createContainers(deps, stack, work, {
          isExisting: (id) => known.has(id),
          anonymousVolumes,
        }),
    );
    await job.step(startStep(key), async () => {
      await waitForDependencies(deps, stack, key, {
        replaced,
        timeoutSeconds: healthTimeoutSeconds,
        signal: AbortSignal.any([signal, failed.signal]),
        onProgress: (message) => job.progress({ current, total, message }),
      });
      await startContainers(deps, stack, work, created, {
        signal: AbortSignal.any([signal, failed.signal]),
      });
      return true;
    });
    job.progress({ current: ++current, total, message: `${key} is started` });
  };
  for (const work of services) {
    const running = deploy(work).catch((error) => {
      failed.abort(error);
      throw error;
    });
    running.catch(() => {});
    done.set(work.key, running);
  }
  // No step may go on while the deploy is taken back.
  await Promise.allSettled(done.values());
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}

/** @throws {AppError} `conflict` with the first failure of a new container. */
async function verifyAll(
  deps: Deps,
  job: DeployJob,
  stack: LoadedStack,
  { services }: PlannedDeploy,
): Promise<void> {
  const { input: { stableSeconds, healthTimeoutSeconds }, signal } = job;
  const subjects: Verified[] = services.flatMap(({ key, started }) => {
    const { pairs = [], fresh = [] } = createdOf(job, key) ?? {};
    return [
      ...pairs.map((pair) => ({ ...pair, ran: true })),
      ...[...fresh, ...started].map(({ id, name }) => ({ name, newId: id, ran: true, ports: [] })),
    ];
  });
  const dependents = dependentPairs(job);
  subjects.push(...dependents.filter(({ worked }) => worked));
  if (subjects.length === 0) return;
  const isResumed = job.hasBegun("verify");
  const assertSameEngine = watchEngine(deps);
  await job.step("verify", async () => {
    try {
      // The engine may have been stopped meanwhile.
      if (isResumed) {
        for (const work of services) {
          const created = createdOf(job, work.key)!;
          await startContainers(deps, stack, work, created, { signal, isResumed });
        }
        await restartStopped(deps, dependents);
      }
      await verify(deps, subjects, {
        watched: [],
        stableSeconds: stableSeconds ?? undefined,
        defaultStableSeconds: STABLE_S,
        verifyTimeoutSeconds: healthTimeoutSeconds ?? undefined,
        signal,
        onProgress: (message) => job.progress({ current: 0, total: null, message }),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = await throwIfInterrupted(deps, error);
      await assertSameEngine();
      throw failure;
    }
  });
}
