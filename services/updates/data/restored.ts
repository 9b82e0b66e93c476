/** Volumes of an update when its job begins, and earlier data that a rollback brings back. @module */

import type { KeptData } from "../../../db/updates/previous.ts";
import { openTargetRepository } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import type { Deps } from "../../deps.ts";
import type { Container } from "../../containers/inventory.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import { AppError } from "../../errors.ts";
import type { UndoneData, UpdateInput } from "../run/job.ts";
import {
  assertNotShared,
  findImages,
  groupOf,
  TARGET_MS,
  type UndoGroup,
  type UndoInput,
  type Updated,
  updatedOf,
} from "./plan.ts";

/** A container or stack, and the data that its job keeps. */
interface Kept {
  name: string;
  stack: string | null;
  group: UndoGroup;
}

/** @param survey Of a container that is updated. */
export function keptBy(deps: ReadDeps, survey: Updated): Kept {
  const updated = updatedOf(deps, survey);
  const [{ name, composeProject: stack }] = updated as [Container];
  return { name, stack, group: groupOf(updated) };
}

/**
 * Decides where a rollback that brings data back keeps what was written since: at the target of that.
 *
 * @throws {AppError} `conflict` for data that cannot be brought back.
 */
export async function prepareRestored(
  deps: Deps,
  { name, group }: Kept,
  restored: KeptData,
): Promise<UndoInput & { restored: KeptData }> {
  const { targetId, place, snapshot } = restored;
  const { stopped, volumes, images } = group;
  assertUsed(name, volumes, restored);
  await assertNotShared(deps, volumes, stopped.map(({ id }) => id));
  await findImages(deps, restored.volumes, images);
  const signal = AbortSignal.timeout(TARGET_MS);
  using opened = await openTargetRepository(deps, targetId, signal);
  await translated(() => opened.repository.snapshot(snapshot, signal));
  return { targetId, place, restored };
}

/**
 * The volumes that a job keeps, read again when it begins.
 *
 * @throws {AppError} `conflict` if another container has come to use one, or if one whose earlier data
 * is brought back is not used any more.
 */
export async function planUndone(
  deps: Deps,
  { name, stack, group: { stopped, volumes, images } }: Kept,
  { replaced = [], restored }: Pick<UpdateInput, "replaced" | "restored">,
): Promise<UndoneData> {
  if (restored) assertUsed(name, volumes, restored);
  await assertNotShared(deps, volumes, [...stopped.map(({ id }) => id), ...replaced]);
  return { volumes: [...volumes], images: [...images], stack };
}

function assertUsed(name: string, used: readonly string[], { volumes }: KeptData): void {
  const unused = volumes.find((volume) => !used.includes(volume));
  if (unused === undefined) return;
  throw new AppError("conflict", `${name} does not use volume ${unused} any more`);
}
