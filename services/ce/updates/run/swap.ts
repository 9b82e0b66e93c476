/**
 * The steps that change containers: create the new ones, put them in the place of the old ones, put
 * the old ones back. Each starts from the engine's current state, so that it can be repeated after a
 * crash in the middle.
 *
 * @module
 */

import type { Engine } from "../../../../engine/client.ts";
import {
  type ContainerInspect,
  containerInspect,
  containerRename,
  containerStart,
  containerStop,
} from "../../../../engine/containers.ts";
import { EngineError, EngineUnreachableError } from "../../../../engine/errors.ts";
import { type ImageInspect, imageInspect, imageTag } from "../../../../engine/images.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../errors.ts";
import { sleep } from "../../../lifecycle.ts";
import {
  hasStayedUp,
  inspectContainer,
  type ReadDeps,
  refreshContainer,
} from "../../containers/reads.ts";
import { asContainer } from "../../containers/reads.ts";
import { refersTo } from "../../containers/share_group.ts";
import { planSameImage } from "../../rebuild/dependents.ts";
import type { RecreateOptions, Recreation } from "../../rebuild/recreate.ts";
import {
  isUp,
  nameOf,
  prepareReplacement,
  removeAndWait,
  removeStopped,
} from "../../rebuild/replace.ts";
import { whileNamed } from "./image_name.ts";
import {
  inspectIfThere,
  type Member,
  type Pair,
  setRestartPolicy,
  temporaryName,
} from "./members.ts";
import { planContainer } from "./plan.ts";
import { previousTag } from "./previous.ts";
import { withoutValues } from "./refusal.ts";
import { isTask } from "./verdict.ts";

export type SwapDeps = ReadDeps & Pick<Deps, "diskUsage" | "log">;

/** How long an old container must run to count as restored, in milliseconds. */
const RESTORED_MS = 3_000;

const POLL_MS = 200;

export interface NewImage {
  reference: string;
  imageId: string;
  defaultRuntime: string | undefined;
}

/**
 * Creates the new container of each member under a temporary name, and gives the old image a name
 * that keeps it from being pruned. No old container is changed.
 *
 * @param members The target first, then its dependents in topological order.
 * @throws {AppError} With the engine's message; then no new container is left.
 */
export async function createReplacements(
  deps: SwapDeps,
  members: readonly Member[],
  image: NewImage,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  const olds: ContainerInspect[] = [];
  try {
    for (const member of members) {
      const old = await inspectContainer(deps, member.oldId);
      const isTarget = pairs.length === 0;
      const successors = successorsOf(deps, old, olds, pairs);
      const { newId } = isTarget
        ? await create(deps, { old, member }, await planTarget(deps, old, image))
        : await createSame(deps, { old, member }, {
          defaultRuntime: image.defaultRuntime,
          successors,
        });
      pairs.push({ ...member, newId });
      olds.push(old);
    }
    return pairs;
  } catch (error) {
    if (!(error instanceof EngineUnreachableError)) await discard(deps, pairs);
    throw error;
  }
}

/** An old container, as it is now and as it was before the update. */
interface Old {
  old: ContainerInspect;
  member: Member;
}

async function create(deps: SwapDeps, { old, member: { ran } }: Old, plan: Recreation) {
  try {
    return await prepareReplacement(deps, old, plan, { ran });
  } catch (error) {
    throw withoutValues(error, old);
  }
}

/** Creates a dependent from the image that it has, by the reference that it has. */
async function createSame(
  deps: SwapDeps,
  { old, member }: Old,
  options: Pick<RecreateOptions, "defaultRuntime" | "successors">,
) {
  const reference = old.Config.Image || old.Image;
  return await whileNamed(deps, { reference, imageId: old.Image }, async (reference) => {
    const plan = await planSameImage(deps, old, options);
    return await create(deps, { old, member }, {
      ...plan,
      create: { ...plan.create, Image: reference },
    });
  });
}

async function planTarget(
  { engine }: SwapDeps,
  old: ContainerInspect,
  { reference, imageId, defaultRuntime }: NewImage,
) {
  const newImage = await imageInspect(engine, imageId);
  const oldImage = await tagPrevious(engine, old);
  return planContainer(old, {
    oldImage,
    newImage,
    reference,
    apiVersion: engine.apiVersion,
    defaultRuntime,
  }).recreation;
}

/** Names the image that the container runs. */
async function tagPrevious(
  engine: Engine,
  old: ContainerInspect,
): Promise<ImageInspect | undefined> {
  try {
    const image = await imageInspect(engine, old.Image);
    await imageTag(engine, image.Id, previousTag(nameOf(old), image.Id));
    return image;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}

/** The new containers that an old one's references to containers lead to. */
function successorsOf(
  deps: SwapDeps,
  old: ContainerInspect,
  olds: readonly ContainerInspect[],
  pairs: readonly Pair[],
): Map<string, string> {
  const { shares, links } = asContainer(deps, old);
  return new Map([...shares, ...links].flatMap((ref) => {
    const index = olds.findIndex((each) => refersTo(ref, asContainer(deps, each)));
    return index < 0 ? [] : [[ref, pairs[index]!.newId] as const];
  }));
}

/** Removes new containers that were never put in place. */
export async function discard(
  { engine, log }: Pick<Deps, "engine" | "log">,
  pairs: readonly Pair[],
): Promise<void> {
  for (const { name, newId } of pairs.toReversed()) {
    try {
      await removeAndWait(engine, newId, { volumes: true });
    } catch (error) {
      log.error("failed to remove the new container of an update", {
        container: name,
        id: newId,
        error: `${error}`,
      });
      if (error instanceof EngineUnreachableError) throw error;
    }
  }
}

/**
 * Stops the old containers, gives their names to the new ones, and starts those whose old one ran.
 *
 * @throws {AppError} `conflict` with the engine's message if a new container cannot start.
 */
export async function putNewInPlace(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  const { engine } = deps;
  for (const { oldId } of pairs.toReversed()) {
    const old = await inspectIfThere(engine, oldId);
    if (old) await stopAside(deps, old);
  }
  for (const pair of pairs) {
    await rename(engine, pair.oldId, temporaryName(pair, "old"));
    await rename(engine, pair.newId, pair.name);
  }
  for (const { newId, restartPolicy } of pairs) {
    // A rollback that was given up has changed it.
    await setRestartPolicy(engine, await inspectContainer(deps, newId), restartPolicy);
  }
  await restartStopped(deps, pairs);
  await refreshAll(deps, pairs);
}

/**
 * Starts new containers that stopped while this service or the engine was away.
 *
 * @param options.tasksToo Also those that may complete and exited with 0: an engine that stops ends
 * containers so, too. Default true.
 * @throws {AppError} `conflict` if one cannot start.
 */
export async function restartStopped(
  deps: SwapDeps,
  pairs: readonly Pair[],
  { tasksToo = true }: { tasksToo?: boolean } = {},
): Promise<void> {
  for (const pair of pairs) {
    const fresh = pair.ran ? await inspectIfThere(deps.engine, pair.newId) : undefined;
    if (!fresh || isUp(fresh)) continue;
    const isComplete = isTask(fresh.HostConfig.RestartPolicy) && fresh.State.ExitCode === 0;
    if (tasksToo || !isComplete) await start(deps.engine, fresh);
  }
}

async function start(engine: Engine, container: ContainerInspect): Promise<void> {
  try {
    await containerStart(engine, container.Id);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const message = `${nameOf(container)} could not be started: ${error.message}`;
    throw withoutValues(new AppError("conflict", message, { cause: error }), container);
  }
}

/** Stops a container for good, without an event about it. */
export async function stopAside(deps: SwapDeps, container: ContainerInspect): Promise<void> {
  const { engine, inventory } = deps;
  await setRestartPolicy(engine, container, { Name: "no" });
  if (!isUp(container)) return;
  const before = asContainer(deps, container);
  const down = inventory.expectDown(container.Id);
  try {
    await containerStop(engine, container.Id);
  } finally {
    const after = await refreshContainer(deps, container.Id).catch(() => undefined);
    if (hasStayedUp(before, after?.now)) down.withdraw();
    else down.settle();
  }
}

/** A container that no longer exists is left out: the other one of its pair can have the name. */
async function rename(engine: Engine, id: string, name: string): Promise<void> {
  const container = await inspectIfThere(engine, id);
  if (container && nameOf(container) !== name) await containerRename(engine, id, { name });
}

/**
 * Stops the new containers, gives the names back to the old ones, and starts those that ran, with
 * their restart policy.
 *
 * @throws {AppError} If an old one is gone or does not stay up. The new ones still exist then.
 */
export async function putOldBack(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  const { engine } = deps;
  for (const { oldId, name } of pairs) {
    if (!await inspectIfThere(engine, oldId)) {
      throw new AppError("conflict", `The old container of ${name} no longer exists`);
    }
  }
  for (const { newId } of pairs.toReversed()) {
    const fresh = await inspectIfThere(engine, newId);
    if (fresh) await stopAside(deps, fresh);
  }
  await nameOldOnes(deps, pairs);
  for (const { oldId, ran, restartPolicy } of pairs) {
    const old = await containerInspect(engine, oldId);
    await setRestartPolicy(engine, old, restartPolicy);
    if (ran) await start(engine, old);
  }
  for (const pair of pairs) if (pair.ran) await assertStaysUp(deps, pair);
  await refreshAll(deps, pairs);
}

/** Gives the names back to the old containers, whether or not they can run. */
export async function nameOldOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const pair of pairs) {
    await rename(deps.engine, pair.newId, temporaryName(pair, "new"));
    await rename(deps.engine, pair.oldId, pair.name);
  }
  await refreshAll(deps, pairs);
}

/** @throws {AppError} `conflict` if a restored container exits or is restarted soon. */
async function assertStaysUp({ engine }: SwapDeps, pair: Pair): Promise<void> {
  // One that failed before the update is restored as it was.
  if (!pair.worked) return;
  const first = await containerInspect(engine, pair.oldId);
  for (const until = performance.now() + RESTORED_MS; performance.now() < until;) {
    const { State } = await containerInspect(engine, pair.oldId);
    if (isTask(pair.restartPolicy) && State.Status === "exited" && State.ExitCode === 0) return;
    if (!State.Running || State.Restarting || State.StartedAt !== first.State.StartedAt) {
      throw new AppError("conflict", `${pair.name} exited with code ${State.ExitCode}`);
    }
    await sleep(POLL_MS);
  }
}

/**
 * Removes the old containers, without their volumes. One that the engine refuses to remove stays.
 *
 * @throws {EngineUnreachableError}
 */
export async function removeOldOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  const { engine, log } = deps;
  for (const { oldId, name } of pairs.toReversed()) {
    try {
      await removeStopped(engine, oldId);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      log.warn("failed to remove the old container of an update", {
        container: name,
        id: oldId,
        error: error.message,
      });
    }
  }
  await refreshAll(deps, pairs);
}

/** Updates the snapshot, so that the next read shows the result. */
export async function refreshAll(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const id of pairs.flatMap(({ oldId, newId }) => [oldId, newId])) {
    await refreshContainer(deps, id).catch(() => {});
  }
}
