/**
 * What exists of a replacement that has begun: its old and its new container.
 *
 * @module
 */

import { type Rebuild, selectRebuild } from "../../../db/ce/rebuilds.ts";
import type { Engine } from "../../../engine/client.ts";
import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { nameOf } from "./replace.ts";
import { markedName } from "./marks.ts";

export interface Remains {
  rebuild: Rebuild;
  old: ContainerInspect | undefined;
  new: ContainerInspect | undefined;
}

/** @returns `undefined` when the replacement is no longer recorded. */
export async function readRemains(
  { db, engine }: Pick<Deps, "db" | "engine">,
  oldId: string,
): Promise<Remains | undefined> {
  const rebuild = selectRebuild(db, oldId);
  if (!rebuild) return undefined;
  return {
    rebuild,
    old: await ifThere(containerInspect(engine, oldId)),
    new: rebuild.newId === null
      ? await createdUnrecorded(engine, rebuild)
      : await ifThere(containerInspect(engine, rebuild.newId)),
  };
}

/** Whether one container is left, under the name, and with nothing left to do. */
export function isSettled({ rebuild, old, new: fresh }: Remains): boolean {
  if (!fresh) return !old || nameOf(old) === rebuild.name;
  return !old && nameOf(fresh) === rebuild.name && (!rebuild.ran || hasStarted(fresh));
}

/** Whether it ever ran; only what never did holds no data. */
export const hasStarted = ({ State }: ContainerInspect) => State.Status !== "created";

/** The process may have ended between the creation and its record. */
async function createdUnrecorded(
  engine: Engine,
  { name, ran, oldId }: Rebuild,
): Promise<ContainerInspect | undefined> {
  const newName = markedName({ name, role: "new", ran, oldId });
  const found = await ifThere(containerInspect(engine, newName));
  return found && !hasStarted(found) ? found : undefined;
}
