/**
 * Images that containers used before an update. A name of their own keeps them from being pruned,
 * until `keepPreviousDays` are over.
 *
 * @module
 */

import {
  deletePreviousImage,
  type KeptData,
  type PreviousImage,
  selectPreviousImages,
  selectPreviousImagesBefore,
  upsertPreviousImage,
} from "../../../db/updates/previous.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import { imageInspect, imageRemove } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { previousTag } from "../../images/previous_tag.ts";
import { readUpdateSettings } from "../settings.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Records the image that a container no longer uses, and forgets the one that it uses now. */
export function recordPrevious(
  { db, now }: Pick<Deps, "db" | "now">,
  { containerName, data, imageId, reference, currentId }:
    & Pick<PreviousImage, "containerName" | "data" | "imageId" | "reference">
    & { currentId: string },
): void {
  const { name, tag } = previousTag(containerName, imageId);
  for (const each of selectPreviousImages(db, containerName)) {
    if (each.imageId === currentId) deletePreviousImage(db, each.id);
  }
  upsertPreviousImage(db, {
    id: crypto.randomUUID(),
    containerName,
    imageId,
    reference,
    tag: `${name}:${tag}`,
    data,
    createdAt: now().toISOString(),
  });
}

/** Removes the name of an image that the container uses again, unless a record needs it. */
export async function removePreviousTag(
  { db, engine }: Pick<Deps, "db" | "engine">,
  { containerName, imageId }: Pick<PreviousImage, "containerName" | "imageId">,
): Promise<void> {
  const isRecorded = selectPreviousImages(db, containerName)
    .some((each) => each.imageId === imageId);
  if (isRecorded) return;
  const { name, tag } = previousTag(containerName, imageId);
  try {
    await imageRemove(engine, `${name}:${tag}`);
  } catch (error) {
    // E.g. it is the last name of an image in use.
    if (!(error instanceof EngineError)) throw error;
  }
}

/** The last image that a container used before, if the engine still has it. */
export async function findPrevious(
  { db, engine }: Pick<Deps, "db" | "engine">,
  containerName: string,
): Promise<PreviousImage | undefined> {
  for (const each of selectPreviousImages(db, containerName)) {
    if (await ifThere(imageInspect(engine, each.imageId))) return each;
  }
  return undefined;
}

/**
 * The data of the last update of a container.
 *
 * @throws {AppError} `conflict` if it kept no data, or if the image found is of an earlier update.
 */
export function requireData(
  { db }: Pick<Deps, "db">,
  name: string,
  { id, data }: Pick<PreviousImage, "id" | "data">,
): KeptData {
  if (selectPreviousImages(db, name)[0]?.id !== id) {
    const message = `The image of ${name} before its last update was removed; without data, the ` +
      "rollback goes to an earlier one";
    throw new AppError("conflict", message);
  }
  if (data) return data;
  throw new AppError("conflict", `The last update of ${name} kept no data (data: undo)`);
}

/**
 * Removes the names of images that were replaced more than `keepPreviousDays` ago, and the images
 * with them unless they have other names.
 */
export async function sweepPreviousImages(
  deps: Pick<Deps, "config" | "db" | "engine" | "log" | "now">,
): Promise<void> {
  const { db, engine, now, log } = deps;
  const keptMs = readUpdateSettings(deps).keepPreviousDays * DAY_MS;
  const before = new Date(now().getTime() - keptMs).toISOString();
  for (const { id, tag } of selectPreviousImagesBefore(db, before)) {
    try {
      await ifThere(imageRemove(engine, tag));
      deletePreviousImage(db, id);
    } catch (error) {
      if (error instanceof EngineUnreachableError) return;
      if (!(error instanceof EngineError)) throw error;
      // In use again, e.g. because another tool went back to it; a later round removes it.
      if (error.status === 409) continue;
      log.warn("failed to remove a previous image", { image: tag, error: error.message });
    }
  }
}
