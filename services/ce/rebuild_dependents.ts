/**
 * Containers that share a namespace (network, processes, memory) of another one, or are linked to
 * it. The engine ties them to that very container, so they lose it when it is rebuilt, and are made
 * anew upon its successor.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import {
  type ContainerInspect,
  containerInspect,
  containerList,
  containerRestart,
} from "../../engine/containers.ts";
import { ifThere } from "../../engine/errors.ts";
import { imageInspect } from "../../engine/images.ts";
import type { Deps } from "../deps.ts";
import { recreation, sharedContainer } from "./container_recreate.ts";
import { isUp, nameOf, replaceContainer } from "./container_replace.ts";

/** Containers that share a namespace of the given one, or are linked to it. */
export async function dependentsOf(
  engine: Engine,
  { Id, Name }: Pick<ContainerInspect, "Id" | "Name">,
): Promise<ContainerInspect[]> {
  const others = (await containerList(engine, { all: true })).filter((other) => other.Id !== Id);
  const inspected = await Promise.all(
    others.map((other) => ifThere(containerInspect(engine, other.Id))),
  );
  const isShared = (mode: string | undefined) => {
    const shared = sharedContainer(mode);
    return shared !== undefined &&
      (shared === Name.slice(1) || (shared.length >= 12 && Id.startsWith(shared)));
  };
  return inspected.filter((other): other is ContainerInspect => {
    if (!other) return false;
    const { NetworkMode, IpcMode, PidMode, Links } = other.HostConfig;
    return [NetworkMode, IpcMode, PidMode].some(isShared) ||
      (Links ?? []).some((link) => link.startsWith(`${Name}:`));
  });
}

/**
 * Makes a dependent anew upon the successor of what it shares, from the image that it has.
 *
 * @param successors From the id of what was shared to the new one.
 * @returns The dependent's new id.
 */
export async function moveDependent(
  deps: Pick<Deps, "engine" | "log">,
  dependent: ContainerInspect,
  successors: ReadonlyMap<string, string>,
): Promise<string> {
  const { engine } = deps;
  const reference = dependent.Config.Image ?? dependent.Image;
  const image = await ifThere(imageInspect(engine, dependent.Image));
  const named = await ifThere(imageInspect(engine, reference));
  const plan = recreation(dependent, {
    image: image?.Config,
    // The name may have moved on to a newer image, which nobody asked for here.
    reference: named?.Id === image?.Id ? reference : dependent.Image,
    apiVersion: engine.apiVersion,
    successors,
  });
  return await replaceContainer(deps, dependent, plan);
}

/** Lets running dependents join again what was stopped and started meanwhile. */
export async function rejoinDependents(
  { engine, log }: Pick<Deps, "engine" | "log">,
  dependents: readonly ContainerInspect[],
): Promise<void> {
  for (const dependent of dependents.filter(isUp)) {
    try {
      await containerRestart(engine, dependent.Id);
    } catch (error) {
      log.warn("a container could not join again what it shares", {
        container: nameOf(dependent),
        error: `${error}`,
      });
    }
  }
}
