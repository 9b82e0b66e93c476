/** Images of the containers of a drill: those of this host, else pulled as the snapshot names them. @module */

import { EngineError, ifThere } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect, imageRemove } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { pullImage } from "../../images/pull.ts";
import type { JobRun } from "../../jobs/kind.ts";
import type { DescribedContainer } from "../description.ts";

/** References of the images that this host does not have, by the id of the image. */
export type MissingImages = Record<string, string>;

/** @throws {AppError} `conflict` for an image that is neither here nor on a registry. */
export async function findMissing(
  { engine }: Pick<Deps, "engine">,
  containers: readonly DescribedContainer[],
): Promise<MissingImages> {
  const missing: MissingImages = {};
  for (const { name, image, imageId, digests: [digest] } of containers) {
    if (await ifThere(imageInspect(engine, imageId))) continue;
    if (digest !== undefined) missing[imageId] = digest;
    else {
      throw new AppError(
        "conflict",
        `This host does not have image ${image} of ${name}, and it came from no registry`,
      );
    }
  }
  return missing;
}

/** Pulls by digest, so that they are the same. */
export async function pullMissing(
  deps: Deps,
  missing: MissingImages,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<void> {
  for (const image of new Set(Object.values(missing))) {
    await pullImage(deps, { ...job, input: { image, platform: null } });
  }
}

export const imageOf = (
  { engine }: Pick<Deps, "engine">,
  missing: MissingImages,
  { imageId }: DescribedContainer,
): Promise<ImageInspect> => imageInspect(engine, missing[imageId] ?? imageId);

/** Removes those that the drill has pulled, unless something else uses them by now. */
export async function removePulled(
  { engine }: Pick<Deps, "engine">,
  missing: MissingImages,
): Promise<void> {
  for (const image of new Set(Object.values(missing))) {
    try {
      await imageRemove(engine, image);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
}
