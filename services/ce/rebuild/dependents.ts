/**
 * Replaces a container together with its dependents. As many new containers as possible are created
 * before the first old one is stopped, and no old one is removed before the last new one is in place,
 * so that after a crash the existing containers show how far the rebuild came.
 *
 * @module
 */

import { deleteRebuild, upsertRebuild } from "../../../db/ce/rebuilds.ts";
import { type ContainerInspect, containerRestart } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { asContainer, type ReadDeps } from "../containers/reads.ts";
import { planRecreation, type RecreateOptions, type Recreation } from "./recreate.ts";
import {
  discardReplacement,
  isUp,
  nameOf,
  prepareReplacement,
  putInPlace,
  removeOld,
  type Replacement,
  swapIn,
} from "./replace.ts";
import { refersTo, sharesNamespaceOf } from "../containers/share_group.ts";
import { isFinished, readRemains } from "./remains.ts";

type ReplaceDeps = ReadDeps & Pick<Deps, "db" | "log">;

/**
 * Replaces a container, then its dependents, so that they share the namespaces of the new one.
 * A dependent that cannot be moved is logged and skipped.
 *
 * @param dependents In topological order.
 * @returns The new container's id.
 * @throws {AppError} As `replaceContainer()`; all containers are then restored.
 */
export async function replaceWithDependents(
  deps: ReplaceDeps,
  old: ContainerInspect,
  plan: Recreation,
  dependents: readonly ContainerInspect[],
): Promise<string> {
  const begun: string[] = [];
  const prepare = async (container: ContainerInspect, plan: Recreation): Promise<Replacement> => {
    const record = { oldId: container.Id, name: nameOf(container), ran: isUp(container) };
    begun.push(container.Id);
    upsertRebuild(deps.db, { ...record, newId: null });
    const replacement = await prepareReplacement(deps, container, plan);
    upsertRebuild(deps.db, { ...record, newId: replacement.newId });
    return replacement;
  };

  try {
    const main = await prepare(old, plan);
    const moves: Move[] = [{ container: old, replacement: main }];
    try {
      for (const container of dependents) {
        // A link is resolved by name at creation, so linked containers are created later.
        const replacement = sharesNewOne(deps, container, moves)
          ? await prepare(container, await planMove(deps, container, moves))
          : undefined;
        moves.push({ container, replacement });
      }
    } catch (error) {
      for (const { replacement } of moves.toReversed()) {
        if (replacement) await discardReplacement(deps, replacement);
      }
      throw error;
    }
    try {
      await swapIn(deps, main);
    } catch (error) {
      for (const { replacement } of moves.slice(1).toReversed()) {
        if (replacement) await discardReplacement(deps, replacement);
      }
      if (isUp(old)) await rejoinDependents(deps, dependents);
      throw error;
    }
    for (const move of moves.slice(1)) await moveDependent(deps, move, moves, prepare);
    for (const { replacement } of moves.toReversed()) {
      if (replacement) await removeOld(deps, replacement);
    }
    return main.newId;
  } finally {
    for (const oldId of begun) await deleteFinished(deps, oldId);
  }
}

/** A container to be replaced. */
interface Move {
  container: ContainerInspect;
  /** `undefined` until it is created. */
  replacement: Replacement | undefined;
}

type Prepare = (container: ContainerInspect, plan: Recreation) => Promise<Replacement>;

/** Whether all containers whose namespaces it shares already have a replacement. */
function sharesNewOne(deps: ReplaceDeps, container: ContainerInspect, moves: readonly Move[]) {
  const sharer = asContainer(deps, container);
  const shared = moves.filter((move) =>
    sharesNamespaceOf(sharer, asContainer(deps, move.container))
  );
  return shared.length > 0 && shared.every(({ replacement }) => replacement);
}

/** Replaces a dependent. There is no rollback, because the namespace that it shared is gone. */
async function moveDependent(
  deps: ReplaceDeps,
  move: Move,
  moves: readonly Move[],
  prepare: Prepare,
): Promise<void> {
  const { container } = move;
  try {
    move.replacement ??= await prepare(container, await planMove(deps, container, moves));
    await putInPlace(deps.engine, move.replacement);
  } catch (error) {
    deps.log.error("failed to move container to the rebuilt container", {
      container: nameOf(container),
      error: `${error}`,
    });
  }
}

/** Plans a dependent's new container, from its current image. */
async function planMove(
  deps: ReplaceDeps,
  dependent: ContainerInspect,
  moves: readonly Move[],
): Promise<Recreation> {
  const successors = asContainer(deps, dependent).shares.flatMap((ref) => {
    const move = moves.find(({ container }) => refersTo(ref, asContainer(deps, container)));
    return move?.replacement ? [[ref, move.replacement.newId] as const] : [];
  });
  return await planSameImage(deps, dependent, { successors: new Map(successors) });
}

/** Plans a container like this one, from the image that it has now. */
export async function planSameImage(
  { engine }: Pick<Deps, "engine">,
  container: ContainerInspect,
  options: Pick<RecreateOptions, "successors" | "defaultRuntime">,
): Promise<Recreation> {
  const reference = container.Config.Image ?? container.Image;
  const image = await ifThere(imageInspect(engine, container.Image));
  const named = await ifThere(imageInspect(engine, reference));
  return planRecreation(container, {
    ...options,
    image: image?.Config,
    // The name may refer to a newer image by now, which was not requested.
    reference: named?.Id === image?.Id ? reference : container.Image,
    apiVersion: engine.apiVersion,
  });
}

/** Restarts running dependents, so that they join the namespace of the restarted container. */
export async function rejoinDependents(
  { engine, log }: Pick<Deps, "engine" | "log">,
  dependents: readonly ContainerInspect[],
): Promise<void> {
  for (const dependent of dependents.filter(isUp)) {
    try {
      await containerRestart(engine, dependent.Id);
    } catch (error) {
      log.warn("failed to rejoin shared namespace", {
        container: nameOf(dependent),
        error: `${error}`,
      });
    }
  }
}

/** Deletes the record of a finished replacement; others stay for `recoverRebuilds()`. */
async function deleteFinished(
  { db, engine }: Pick<Deps, "db" | "engine">,
  oldId: string,
): Promise<void> {
  const remains = await readRemains({ db, engine }, oldId).catch(() => undefined);
  if (remains && isFinished(remains)) deleteRebuild(db, oldId);
}
