/**
 * The steps that change containers: create the new ones, put them in the place of the old ones, put
 * the old ones back. Each starts from the engine's current state, so that it can be repeated after a
 * crash in the middle.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import {
  type ContainerInspect,
  containerInspect,
  containerRename,
  containerStart,
  containerStop,
} from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect, imageTag } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { sleep } from "../../lifecycle.ts";
import { startFailure } from "../../containers/lost_network.ts";
import {
  asContainer,
  hasStayedUp,
  inspectContainer,
  type ReadDeps,
  refreshContainer,
} from "../../containers/reads.ts";
import { attachmentsOf } from "../../containers/record.ts";
import { withoutContainerValues } from "../../containers/secret_values.ts";
import { refersTo } from "../../containers/share_group.ts";
import type { RecreateOptions, Recreation } from "../recreate/recreate.ts";
import {
  isUp,
  nameOf,
  planSameImage,
  prepareReplacement,
  removeAndWait,
  removeStopped,
  untilGone,
} from "../recreate/replace.ts";
import { whileNamed } from "./image_name.ts";
import {
  inspectIfThere,
  type Member,
  type Pair,
  setRestartPolicy,
  temporaryName,
} from "./members.ts";
import { planContainer } from "./plan.ts";
import { previousTag } from "../../images/previous_tag.ts";
import { isTask } from "./verdict.ts";

type SwapDeps = ReadDeps & Pick<Deps, "diskUsage" | "log">;

/** Time for which an old container must run to count as restored, in milliseconds. */
const RESTORED_MS = 3_000;

const POLL_MS = 200;

interface NewImage {
  reference: string;
  imageId: string;
  defaultRuntime: string | undefined;
}

/**
 * Creates the new container of each member under a temporary name, and gives the old image a name
 * that keeps it from being pruned. Old containers that cannot return are copied: those that the
 * engine removes when they stop, and those that depend on one. No old container is changed.
 *
 * @param members The target first, then its dependents in topological order.
 * @throws {AppError} With the engine's message; then no new container is left.
 */
export async function createReplacements(
  deps: SwapDeps,
  members: readonly Member[],
  image: NewImage,
): Promise<Pair[]> {
  return await createEach(deps, members, image, []);
}

/**
 * Creates the new container of each dependent of containers that were replaced before, with the same
 * image, as {@linkcode createReplacements} does.
 *
 * @param members In topological order.
 */
export async function createDependents(
  deps: SwapDeps,
  members: readonly Member[],
  { replaced, defaultRuntime }: Pick<NewImage, "defaultRuntime"> & { replaced: readonly Pair[] },
): Promise<Pair[]> {
  return await createEach(deps, members, { defaultRuntime }, replaced);
}

async function createEach(
  deps: SwapDeps,
  members: readonly Member[],
  image: NewImage | Pick<NewImage, "defaultRuntime">,
  replaced: readonly Pair[],
): Promise<Pair[]> {
  const known: { pair: Pair; old: ContainerInspect }[] = [];
  for (const pair of replaced) {
    const old = await inspectIfThere(deps.engine, pair.oldId);
    if (old) known.push({ pair, old });
  }
  const pairs: Pair[] = [];
  const successorsBy = (old: ContainerInspect, id: (pair: Pair) => string | undefined) =>
    successorsOf(deps, old, known.map((each) => each.old), known.map(({ pair }) => id(pair)));
  const { defaultRuntime } = image;
  try {
    for (const member of members) {
      const old = await inspectContainer(deps, member.oldId);
      const successors = successorsBy(old, ({ newId }) => newId);
      const newId = known.length === 0 && "reference" in image
        ? await create(deps, { old, member, role: "new" }, await planTarget(deps, old, image))
        : await createSame(deps, { old, member, role: "new" }, { defaultRuntime, successors });
      const pair: Pair = { ...member, newId };
      pairs.push(pair);
      const copies = successorsBy(old, ({ copyId }) => copyId);
      if ((member.ran && old.HostConfig.AutoRemove) || copies.size > 0) {
        pair.copyId = await createSame(deps, { old, member, role: "copy" }, {
          defaultRuntime,
          successors: copies,
        });
      }
      known.push({ pair, old });
    }
    return pairs;
  } catch (error) {
    if (!(error instanceof EngineUnreachableError)) {
      await discard(deps, pairs);
      await discard(deps, copiesOf(pairs));
    }
    throw error;
  }
}

/** Origin of a new container: the old one, as it is now and as it was before the update. */
interface Origin {
  old: ContainerInspect;
  member: Member;
  role: "new" | "copy";
}

async function create(
  deps: SwapDeps,
  { old, member, role }: Origin,
  plan: Recreation,
): Promise<string> {
  try {
    return await prepareReplacement(deps, plan, {
      name: member.name,
      temporaryName: temporaryName(member, role),
    });
  } catch (error) {
    throw await withoutContainerValues(deps.engine, old, error);
  }
}

/** Creates a container from the image that the old one has, by the reference that it has. */
async function createSame(
  deps: SwapDeps,
  { old, member, role }: Origin,
  options: Pick<RecreateOptions, "defaultRuntime" | "successors">,
): Promise<string> {
  const reference = old.Config.Image || old.Image;
  return await whileNamed(deps, { reference, imageId: old.Image }, async (reference) => {
    const plan = await planSameImage(deps, old, options);
    return await create(deps, { old, member, role }, {
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
  const oldImage = await tagPrevious(engine, old, newImage);
  return planContainer(old, {
    oldImage,
    newImage,
    reference,
    apiVersion: engine.apiVersion,
    defaultRuntime,
  }).recreation;
}

/** Names the image that the container runs, unless the new one runs it, too. */
async function tagPrevious(
  engine: Engine,
  old: ContainerInspect,
  newImage: ImageInspect,
): Promise<ImageInspect | undefined> {
  try {
    const image = await imageInspect(engine, old.Image);
    if (image.Id === newImage.Id) return image;
    await imageTag(engine, image.Id, previousTag(nameOf(old), image.Id));
    return image;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}

/** The containers that an old one's references to containers lead to, if these replace `olds`. */
function successorsOf(
  deps: SwapDeps,
  old: ContainerInspect,
  olds: readonly ContainerInspect[],
  ids: readonly (string | undefined)[],
): Map<string, string> {
  const { shares, links } = asContainer(deps, old);
  return new Map([...shares, ...links].flatMap((ref) => {
    const id = ids[olds.findIndex((each) => refersTo(ref, asContainer(deps, each)))];
    return id === undefined ? [] : [[ref, id] as const];
  }));
}

/** The copies in the place of the new containers. */
const copiesOf = (pairs: readonly Pair[]): Pair[] =>
  pairs.flatMap(({ copyId, ...pair }) => copyId === undefined ? [] : [{ ...pair, newId: copyId }]);

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
  for (const id of pairs.toReversed().flatMap(oldOnesOf)) {
    const old = await inspectIfThere(engine, id);
    if (old) await stopAside(deps, old);
  }
  for (const pair of pairs) {
    await rename(engine, pair.oldId, temporaryName(pair, "old"));
    if (pair.copyId !== undefined) await rename(engine, pair.copyId, temporaryName(pair, "copy"));
    await rename(engine, pair.newId, pair.name);
  }
  for (const { newId, restartPolicy } of pairs) {
    // A rollback that was given up has changed it.
    await setRestartPolicy(engine, await inspectContainer(deps, newId), restartPolicy);
  }
  await restartStopped(deps, pairs);
  await refreshAll(deps, pairs);
}

const oldOnesOf = ({ oldId, copyId }: Pair): string[] =>
  copyId === undefined ? [oldId] : [oldId, copyId];

/**
 * Starts new containers that stopped while this service or the engine was away, unless a later update
 * of the same stack has replaced them: then they do not have the name any more.
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
    if (!fresh || isUp(fresh) || nameOf(fresh) !== pair.name) continue;
    const isComplete = isTask(fresh.HostConfig.RestartPolicy) && fresh.State.ExitCode === 0;
    if (tasksToo || !isComplete) await start(deps.engine, fresh);
  }
}

/** Starts a container. @throws {AppError} `conflict` with the engine's reason. */
export async function start(engine: Engine, container: ContainerInspect): Promise<void> {
  try {
    await containerStart(engine, container.Id);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const why = startFailure(error.message, attachmentsOf(container));
    const message = `${nameOf(container)} could not be started: ${why}`;
    const refusal = new AppError("conflict", message, { cause: error });
    throw await withoutContainerValues(engine, container, refusal);
  }
}

/** Stops a container for good, without an event about it. */
export async function stopAside(deps: SwapDeps, container: ContainerInspect): Promise<void> {
  const { engine, inventory } = deps;
  const { Id: id, State, HostConfig } = container;
  await setRestartPolicy(engine, container, { Name: "no" });
  const isLeaving = HostConfig.AutoRemove && State.Status !== "created";
  if (!isUp(container)) {
    if (isLeaving) await untilGone(engine, id);
    return;
  }
  const before = asContainer(deps, container);
  const down = inventory.expectDown(id);
  try {
    await ifThere(containerStop(engine, id));
    if (isLeaving) await untilGone(engine, id);
  } finally {
    const after = await refreshContainer(deps, id).catch(() => undefined);
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
 * @returns The pairs, with the containers that returned as the old ones.
 * @throws {AppError} If an old one is gone or does not stay up. The new ones still exist then.
 */
export async function putOldBack(deps: SwapDeps, pairs: readonly Pair[]): Promise<Pair[]> {
  const { engine } = deps;
  const returning = await returningPairs(engine, pairs);
  for (const { oldId, name } of returning) {
    if (!await inspectIfThere(engine, oldId)) {
      throw new AppError("conflict", `The old container of ${name} no longer exists`);
    }
  }
  for (const { newId } of pairs.toReversed()) {
    const fresh = await inspectIfThere(engine, newId);
    if (fresh) await stopAside(deps, fresh);
  }
  await nameOldOnes(deps, pairs);
  for (const { oldId, ran, restartPolicy } of returning) {
    const old = await containerInspect(engine, oldId);
    await setRestartPolicy(engine, old, restartPolicy);
    if (ran) await start(engine, old);
  }
  await Promise.all(returning.filter(({ ran }) => ran).map((pair) => assertStaysUp(deps, pair)));
  const returned = returning.map(({ oldId }) => oldId);
  await removeContainers(deps, pairs, (id) => !returned.includes(id));
  await refreshAll(deps, pairs);
  return returning;
}

/** Gives the names back to the old containers, whether or not they can run. */
export async function nameOldOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const pair of pairs) await rename(deps.engine, pair.newId, temporaryName(pair, "new"));
  const returning = await returningPairs(deps.engine, pairs);
  for (const [index, pair] of pairs.entries()) {
    const { oldId } = returning[index]!;
    // It cannot run, because what it depends on returns as a copy.
    if (oldId !== pair.oldId) await rename(deps.engine, pair.oldId, temporaryName(pair, "old"));
    await rename(deps.engine, oldId, pair.name);
  }
  await refreshAll(deps, pairs);
}

/** The pairs with the copies as the old ones, unless all old ones still exist. */
async function returningPairs(engine: Engine, pairs: readonly Pair[]): Promise<Pair[]> {
  const olds = await Promise.all(pairs.map(({ oldId }) => inspectIfThere(engine, oldId)));
  if (olds.every((old) => old !== undefined)) return pairs.map(({ copyId: _, ...pair }) => pair);
  return pairs.map(({ copyId, ...pair }) => ({ ...pair, oldId: copyId ?? pair.oldId }));
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
  await removeContainers(deps, pairs, () => true);
  await refreshAll(deps, pairs);
}

/** Removes the old containers and their copies that `isSpare` selects. */
async function removeContainers(
  { engine, log }: SwapDeps,
  pairs: readonly Pair[],
  isSpare: (id: string) => boolean,
): Promise<void> {
  for (const pair of pairs.toReversed()) {
    for (const id of oldOnesOf(pair).filter(isSpare)) {
      try {
        await removeStopped(engine, id);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        log.warn("failed to remove the old container of an update", {
          container: pair.name,
          id,
          error: error.message,
        });
      }
    }
  }
}

/** Updates the snapshot, so that the next read shows the result. */
async function refreshAll(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const id of pairs.flatMap((pair) => [...oldOnesOf(pair), pair.newId])) {
    await refreshContainer(deps, id).catch(() => {});
  }
}
