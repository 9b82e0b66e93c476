/** Images of the containers of a drill: those of this host, else pulled as the snapshot names them. @module */

import { EngineError } from "../../../engine/errors.ts";
import { imageRemove } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { findDescribed, pullByDigest } from "../described_images.ts";
import type { DescribedContainer } from "../description.ts";

/** Digests of the images that this host does not have, by the id of the image. */
export type MissingImages = Record<string, string[]>;

/** @throws {AppError} `conflict` for an image that is neither here nor on a registry. */
export async function findMissing(
  deps: Pick<Deps, "engine">,
  containers: readonly DescribedContainer[],
): Promise<MissingImages> {
  const missing: MissingImages = {};
  for (const container of containers) {
    if (await findDescribed(deps, container)) continue;
    const { name, image, imageId, digests } = container;
    if (digests.length === 0) {
      throw new AppError(
        "conflict",
        `This host does not have image ${image} of ${name}, and it came from no registry`,
      );
    }
    missing[imageId] = digests;
  }
  return missing;
}

/** @throws {AppError} With the refusal of the last registry. */
export async function pullMissing(
  deps: Deps,
  missing: MissingImages,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<void> {
  for (const digests of Object.values(missing)) {
    const pulled = await pullByDigest(deps, digests, job);
    if (pulled instanceof AppError) throw pulled;
  }
}

/** Removes those that the drill has pulled, unless something else uses them by now. */
export async function removePulled(
  { engine }: Pick<Deps, "engine">,
  missing: MissingImages,
): Promise<void> {
  for (const image of new Set(Object.values(missing).flat())) {
    try {
      await imageRemove(engine, image);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
}
