/**
 * Replacing a container together with what depends on it. All new containers that can be are
 * created before the first old one is stopped, and no old one is removed before the last new one is
 * in its place: at every moment the remains of a crash show how far it came.
 *
 * @module
 */

import { deleteRebuild, upsertRebuild } from "../../../db/ce/rebuilds.ts";
import { type ContainerInspect, containerRestart } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { asContainer, type ReadDeps } from "../containers/reads.ts";
import { type Recreation, recreation } from "./recreate.ts";
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
import { isSettled, readRemains } from "./remains.ts";

type ReplaceDeps = ReadDeps & Pick<Deps, "db" | "log">;

/**
 * Replaces a container, then its dependents, so that they share the namespaces of the new one.
 * A dependent that cannot be moved is logged; the others go on.
 *
 * @param dependents Each after those that it depends on itself.
 * @returns The new container's id.
 * @throws {AppError} As `replaceContainer()`; everything is then as it was.
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
        // A link is made at creation and to the container that has the name by then.
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
    for (const oldId of begun) await forget(deps, oldId);
  }
}

/** A container on its way to its replacement. */
interface Move {
  container: ContainerInspect;
  /** Missing until it is created. */
  replacement: Replacement | undefined;
}

type Prepare = (container: ContainerInspect, plan: Recreation) => Promise<Replacement>;

/** Whether a container shares a namespace of one whose replacement exists already. */
function sharesNewOne(deps: ReplaceDeps, container: ContainerInspect, moves: readonly Move[]) {
  const sharer = asContainer(deps, container);
  const shared = moves.filter((move) =>
    sharesNamespaceOf(sharer, asContainer(deps, move.container))
  );
  return shared.length > 0 && shared.every(({ replacement }) => replacement);
}

/** There is no way back for a dependent: what it shared is gone. */
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
    deps.log.error("container could not be moved to the rebuilt container", {
      container: nameOf(container),
      error: `${error}`,
    });
  }
}

/** A dependent is recreated from the image that it has. */
async function planMove(
  { engine, ...deps }: ReplaceDeps,
  dependent: ContainerInspect,
  moves: readonly Move[],
): Promise<Recreation> {
  const reference = dependent.Config.Image ?? dependent.Image;
  const image = await ifThere(imageInspect(engine, dependent.Image));
  const named = await ifThere(imageInspect(engine, reference));
  const successors = asContainer(deps, dependent).shares.flatMap((ref) => {
    const move = moves.find(({ container }) => refersTo(ref, asContainer(deps, container)));
    return move?.replacement ? [[ref, move.replacement.newId] as const] : [];
  });
  return recreation(dependent, {
    image: image?.Config,
    // The name may mean a newer image by now, which was not asked for here.
    reference: named?.Id === image?.Id ? reference : dependent.Image,
    apiVersion: engine.apiVersion,
    successors: new Map(successors),
  });
}

/** Restarts running dependents, so that they join what was stopped and started meanwhile. */
export async function rejoinDependents(
  { engine, log }: Pick<Deps, "engine" | "log">,
  dependents: readonly ContainerInspect[],
): Promise<void> {
  for (const dependent of dependents.filter(isUp)) {
    try {
      await containerRestart(engine, dependent.Id);
    } catch (error) {
      log.warn("container could not rejoin the namespace that it shares", {
        container: nameOf(dependent),
        error: `${error}`,
      });
    }
  }
}

/** What is unfinished stays recorded for `recoverRebuilds()`, also when the engine is away. */
async function forget({ db, engine }: Pick<Deps, "db" | "engine">, oldId: string): Promise<void> {
  const remains = await readRemains({ db, engine }, oldId).catch(() => undefined);
  if (remains && isSettled(remains)) deleteRebuild(db, oldId);
}
