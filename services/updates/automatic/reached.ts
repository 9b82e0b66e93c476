/** Whether an image has reached this host, before an update to it is started automatically. @module */

import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { gatePlatform } from "../run/platform.ts";

/**
 * Why an image must not be installed automatically now; `undefined` if it may.
 *
 * @param update.imageId The image that the container runs: the new one has the same platform.
 * @param update.image The new reference.
 */
export async function refusalOf(
  { engine, updateGate }: Pick<Deps, "engine" | "updateGate">,
  { imageId, image, digest }: { imageId: string; image: string; digest: string },
): Promise<string | undefined> {
  if (!updateGate.isNeeded) return undefined;
  const old = await ifThere(imageInspect(engine, imageId));
  // The job finds out what the new image is for.
  return old && await updateGate.refusalOf({ digest, platform: gatePlatform(old), image });
}
