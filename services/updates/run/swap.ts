/**
 * Exchange of old containers for new ones, and back. Each step starts from the engine's current state,
 * so that it can be repeated after a crash in the middle.
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
  type RestartPolicy,
} from "../../../engine/containers.ts";
import { EngineError, ifThere } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { startFailure } from "../../containers/lost_network.ts";
import {
  asContainer,
  hasStayedUp,
  inspectContainer,
  type ReadDeps,
  refreshContainer,
} from "../../containers/reads.ts";
import { isLeftStopped, leaveStoppedAs } from "../../containers/left_stopped.ts";
import type { RebuildMark } from "../../containers/marks.ts";
import { attachmentsOf } from "../../containers/record.ts";
import { withoutContainerValues } from "../../containers/secret_values.ts";
import { isUp, nameOf, removeStopped, untilGone } from "../recreate/replace.ts";
import { type InterruptDeps, throwIfInterrupted } from "./interruption.ts";
import {
  inspectIfThere,
  type Member,
  type Pair,
  setRestartPolicy,
  temporaryName,
} from "./members.ts";
import { ContainerError } from "./container_error.ts";
import { discard } from "./replacements.ts";
import { isTask } from "./verdict.ts";

type SwapDeps = ReadDeps & InterruptDeps & Pick<Deps, "db" | "log">;

/** Time for which an old container must run to count as restored, in milliseconds. */
const RESTORED_MS = 3_000;

const POLL_MS = 200;

/**
 * Stops the old containers, gives their names to the new ones, and starts those whose old one ran.
 *
 * @throws {AppError} `conflict` with the engine's message if a new container cannot start.
 */
export async function putNewInPlace(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  const { engine } = deps;
  await stopOldOnes(deps, pairs);
  for (const pair of pairs) {
    await renameAside(deps, pair, pair.oldId, "old");
    if (pair.copyId !== undefined) await renameAside(deps, pair, pair.copyId, "copy");
    await rename(engine, pair.newId, pair.name);
  }
  for (const pair of pairs) {
    const { oldId, newId, ran, restartPolicy, newPolicy = restartPolicy } = pair;
    if (!ran) leaveStoppedAs(deps.db, oldId, newId);
    // A rollback that was given up has changed it.
    await setRestartPolicy(
      engine,
      await inspectContainer(deps, newId),
      policyInPlace(deps, { oldId, ran, restartPolicy: newPolicy }),
    );
  }
  await restartStopped(deps, pairs);
  await refreshAll(deps, pairs);
}

/** The restart policy of a member in place: one that a move has left stopped gets its own when it runs. */
export const policyInPlace = (
  { db }: Pick<Deps, "db">,
  { oldId, ran, restartPolicy }: Pick<Member, "oldId" | "ran" | "restartPolicy">,
): RestartPolicy => !ran && isLeftStopped(db, oldId) ? { Name: "no" } : restartPolicy;

/** Stops the old containers and their copies, those that others depend on last. */
export async function stopOldOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const id of pairs.toReversed().flatMap(oldOnesOf)) {
    const old = await inspectIfThere(deps.engine, id);
    if (old) await stopAside(deps, old);
  }
}

/** Ids of the old container and its copy. */
export const oldOnesOf = ({ oldId, copyId }: Pair): string[] =>
  copyId === undefined ? [oldId] : [oldId, copyId];

/** Whether an old container or a copy runs. */
export async function isAnyOldUp({ engine }: SwapDeps, pairs: readonly Pair[]): Promise<boolean> {
  const ids = pairs.flatMap(oldOnesOf);
  const olds = await Promise.all(ids.map((id) => inspectIfThere(engine, id)));
  return olds.some((old) => old !== undefined && isUp(old));
}

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
    const problem = `could not be started: ${why}`;
    const refusal = new ContainerError(nameOf(container), problem, { cause: error });
    throw await withoutContainerValues(engine, container, refusal);
  }
}

/** Stops a container for good, without an event about it. */
export async function stopAside(deps: SwapDeps, container: ContainerInspect): Promise<void> {
  const { engine, inventory } = deps;
  const { Id: id, Config, State, HostConfig } = container;
  await setRestartPolicy(engine, container, { Name: "no" });
  const isLeaving = HostConfig.AutoRemove && State.Status !== "created";
  if (!isUp(container)) {
    if (isLeaving) await untilGone(engine, id);
    return;
  }
  const before = asContainer(deps, container);
  const down = inventory.expectDown(id);
  try {
    await ifThere(containerStop(engine, id, { graceS: Config.StopTimeout }));
    if (isLeaving) await untilGone(engine, id);
  } finally {
    const after = await refreshContainer(deps, id).catch(() => undefined);
    if (hasStayedUp(before, after?.now)) down.withdraw();
    else down.settle();
  }
}

/** Gives a container of a pair its temporary name. */
async function renameAside(
  { engine, inventory }: SwapDeps,
  pair: Pair,
  id: string,
  role: RebuildMark["role"],
): Promise<void> {
  inventory.temporary.record({ id, name: pair.name });
  await rename(engine, id, temporaryName(pair, role));
}

/** A container that no longer exists is left out: the other one of its pair can have the name. */
async function rename(engine: Engine, id: string, name: string): Promise<void> {
  const container = await inspectIfThere(engine, id);
  if (container && nameOf(container) !== name) await containerRename(engine, id, { name });
}

/**
 * Stops the new containers, gives the names back to the old ones, starts those that ran, with their
 * restart policy, and removes the new ones.
 *
 * @returns The pairs, with the containers that returned as the old ones, and a sentence for each
 * container that needs attention nevertheless.
 * @throws {AppError} If an old one is gone or does not stay up. The new ones that could be stopped
 * still exist then.
 */
export async function putOldBack(
  deps: SwapDeps,
  pairs: readonly Pair[],
): Promise<{ returned: Pair[]; problems: string[] }> {
  const { engine } = deps;
  const returning = await returningPairs(engine, pairs);
  for (const { oldId, name } of returning) {
    if (!await inspectIfThere(engine, oldId)) {
      throw new AppError("conflict", `The old container of ${name} no longer exists`);
    }
  }
  await stopNewOnes(deps, pairs);
  let unnamed = await nameOldOnes(deps, pairs);
  for (const pair of returning) {
    const old = await containerInspect(engine, pair.oldId);
    await setRestartPolicy(engine, old, policyInPlace(deps, pair));
    if (pair.ran) await start(engine, old);
  }
  await Promise.all(returning.filter(({ ran }) => ran).map((pair) => assertStaysUp(deps, pair)));
  const returned = returning.map(({ oldId }) => oldId);
  await removeContainers(deps, pairs, (id) => !returned.includes(id));
  const left = await discard(deps, pairs);
  if (unnamed.length > 0) unnamed = await nameOldOnes(deps, pairs);
  await refreshAll(deps, pairs);
  return { returned: returning, problems: [...left, ...unnamed] };
}

/** Stops the new containers, those that others depend on last. */
export async function stopNewOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const pair of pairs.toReversed()) await stopOrDiscard(deps, pair);
}

/**
 * Stops a new container. One that does not stop is removed, because it may hold the old one's ports,
 * unless nothing else is left of its pair.
 */
async function stopOrDiscard(deps: SwapDeps, pair: Pair): Promise<void> {
  try {
    const fresh = await inspectIfThere(deps.engine, pair.newId);
    if (fresh) await stopAside(deps, fresh);
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    if (!await hasOldOne(deps, pair)) throw failure;
    await discard(deps, [pair]);
  }
}

/** Whether the old container of a pair, or its copy, still exists. */
export async function hasOldOne({ engine }: SwapDeps, pair: Pair): Promise<boolean> {
  const olds = await Promise.all(oldOnesOf(pair).map((id) => inspectIfThere(engine, id)));
  return olds.some((old) => old !== undefined);
}

/** Stops new containers without old ones, and gives them their names. */
export async function leaveNewOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<void> {
  for (const { newId, name } of pairs.toReversed()) {
    await rename(deps.engine, newId, name);
    const fresh = await inspectIfThere(deps.engine, newId);
    if (fresh) await stopAside(deps, fresh);
  }
  await refreshAll(deps, pairs);
}

/**
 * Gives the names back to the old containers, whether or not they can run.
 *
 * @returns A sentence for each whose name a new container keeps, because it cannot be renamed.
 */
export async function nameOldOnes(deps: SwapDeps, pairs: readonly Pair[]): Promise<string[]> {
  const stuck = new Set<Pair>();
  for (const pair of pairs) {
    try {
      await renameAside(deps, pair, pair.newId, "new");
    } catch (error) {
      await throwIfInterrupted(deps, error);
      stuck.add(pair);
    }
  }
  const unnamed: string[] = [];
  const returning = await returningPairs(deps.engine, pairs);
  for (const [index, pair] of pairs.entries()) {
    const { oldId } = returning[index]!;
    // It cannot run, because what it depends on returns as a copy.
    if (oldId !== pair.oldId) await renameAside(deps, pair, pair.oldId, "old");
    try {
      await rename(deps.engine, oldId, pair.name);
    } catch (error) {
      await throwIfInterrupted(deps, error);
      if (!stuck.has(pair)) throw error;
      unnamed.push(
        `the old container of ${pair.name} keeps the name ${temporaryName(pair, "old")}`,
      );
    }
  }
  await refreshAll(deps, pairs);
  return unnamed;
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
  deps: SwapDeps,
  pairs: readonly Pair[],
  isSpare: (id: string) => boolean,
): Promise<void> {
  for (const pair of pairs.toReversed()) {
    for (const id of oldOnesOf(pair).filter(isSpare)) {
      try {
        await removeStopped(deps.engine, id);
      } catch (error) {
        await throwIfInterrupted(deps, error);
        deps.log.warn("failed to remove the old container of an update", {
          container: pair.name,
          id,
          error: `${error}`,
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
