/** Images whose programs change volumes and directories in a helper container. @module */

import type { MountSource } from "../../containers/helper_container.ts";
import { findHelperImage, type HelperImage } from "./helper_image.ts";
import type { VolumeDeps } from "./mounted.ts";

/**
 * Finds an image for each mount. A directory is changed from a directory of `STACK_ROOTS`, which has other
 * stacks as well, so that only `HELPER_IMAGE` may.
 *
 * @param images Those that may change volumes, as references or ids.
 * @throws {AppError} As {@linkcode findHelperImage}.
 */
export async function findWritingImages(
  deps: VolumeDeps,
  mounts: readonly MountSource[],
  images: readonly string[],
  signal: AbortSignal,
): Promise<HelperImage[]> {
  const found: HelperImage[] = [];
  for (const { type } of mounts) {
    found.push(await findHelperImage(deps, type === "volume" ? images : [], signal));
  }
  return found;
}
