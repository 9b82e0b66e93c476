/**
 * Lets references name images. A container keeps the reference that it was created from, so that
 * must name its image when it is created.
 *
 * @module
 */

import { ifThere } from "../../../engine/errors.ts";
import { fullImageId, isIdOf } from "../../../engine/image_id.ts";
import { parseReference } from "../../../engine/image_reference.ts";
import { imageInspect, imageTag } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

type NameDeps = Pick<Deps, "engine" | "diskUsage">;

/**
 * Lets a reference name an image. An id, or one with a digest, always names the same.
 *
 * @throws {AppError} `conflict` if the image was removed: the reference may name another one.
 */
export async function nameImage(
  deps: NameDeps,
  reference: string,
  imageId: string,
): Promise<void> {
  if (await isNamed(deps, reference, imageId)) return;
  throw new AppError("conflict", `The image that ${reference} has to name was removed`);
}

/** Lets a reference name an image again, as {@linkcode nameImage}; nothing if it was removed. */
export async function nameAgain(
  deps: NameDeps,
  reference: string,
  imageId: string,
): Promise<void> {
  await isNamed(deps, reference, imageId);
}

/** @returns Whether the reference names the image now. */
async function isNamed(
  { engine, diskUsage }: NameDeps,
  reference: string,
  imageId: string,
): Promise<boolean> {
  if (isIdOf(reference, imageId)) return true;
  const { name, tag = "latest", digest } = parseReference(reference);
  if (digest !== undefined) return true;
  const named = await ifThere(imageInspect(engine, reference));
  if (named && fullImageId(named.Id) === imageId) return true;
  const tagged = await ifThere(imageTag(engine, imageId, { name, tag }).then(() => true));
  diskUsage.invalidate();
  return tagged ?? false;
}

/**
 * Runs work while a reference names an image, although it may name a newer one by now.
 *
 * @param work Gets the reference to use: the image's id if the reference does not exist any more.
 */
export async function whileNamed<Value>(
  deps: NameDeps,
  { reference, imageId }: { reference: string; imageId: string },
  work: (reference: string) => Promise<Value>,
): Promise<Value> {
  const named = isIdOf(reference, imageId)
    ? undefined
    : await ifThere(imageInspect(deps.engine, reference));
  if (!named) return await work(imageId);
  await nameImage(deps, reference, fullImageId(imageId));
  try {
    return await work(reference);
  } finally {
    await nameAgain(deps, reference, fullImageId(named.Id));
  }
}
