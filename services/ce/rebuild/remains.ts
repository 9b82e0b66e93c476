/**
 * The state of a started replacement: its old and its new container.
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

/** @returns `undefined` if the replacement is not recorded any more. */
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
      ? await findUnrecorded(engine, rebuild)
      : await ifThere(containerInspect(engine, rebuild.newId)),
  };
}

/** Whether only one container is left, with the original name and in its final state. */
export function isFinished({ rebuild, old, new: fresh }: Remains): boolean {
  if (!fresh) return !old || nameOf(old) === rebuild.name;
  return !old && nameOf(fresh) === rebuild.name && (!rebuild.ran || hasStarted(fresh));
}

/** Whether it was ever started; a container that was not has no data. */
export const hasStarted = ({ State }: ContainerInspect) => State.Status !== "created";

/** Finds a container that was created, but not recorded because the process ended in between. */
async function findUnrecorded(
  engine: Engine,
  { name, ran, oldId }: Rebuild,
): Promise<ContainerInspect | undefined> {
  const newName = markedName({ name, role: "new", ran, oldId });
  const found = await ifThere(containerInspect(engine, newName));
  return found && !hasStarted(found) ? found : undefined;
}
