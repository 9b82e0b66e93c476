/** Images of described containers: found on this host, or pulled by digest, so that they are the same. @module */

import { ifThere } from "../../engine/errors.ts";
import { parseReference } from "../../engine/image_reference.ts";
import { type ImageInspect, imageInspect } from "../../engine/images.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { pullImage } from "../images/pull.ts";
import { assertRegistryReach } from "../images/registries/access.ts";
import type { JobRun } from "../jobs/kind.ts";
import type { DescribedContainer } from "./description.ts";

/** An engine with another image store knows the same image by its digests only. */
export async function findDescribed(
  { engine }: Pick<Deps, "engine">,
  { imageId, digests }: Pick<DescribedContainer, "imageId" | "digests">,
): Promise<ImageInspect | undefined> {
  for (const reference of [imageId, ...digests]) {
    const image = await ifThere(imageInspect(engine, reference));
    if (image) return image;
  }
  return undefined;
}

/**
 * Pulls an image by the first of its digests that a registry has.
 *
 * @returns Its id; the last refusal if there is none, `undefined` without digests.
 */
export async function pullByDigest(
  deps: Deps,
  digests: readonly string[],
  { signal, progress }: Pick<JobRun, "progress" | "signal">,
): Promise<string | AppError | undefined> {
  let refusal: AppError | undefined;
  for (const image of digests) {
    try {
      const reference = parseReference(image);
      await assertRegistryReach(deps, reference, reference.registry);
      const input = { image, platform: null };
      return (await pullImage(deps, { input, signal, progress })).imageId;
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error;
      refusal = error;
    }
  }
  return refusal;
}
