/** Images whose programs change volumes and directories in a helper container. @module */

import type { Container } from "../../containers/inventory.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import { findHelperImage, type HelperImage } from "./helper_image.ts";
import type { VolumeDeps } from "./mounted.ts";

/** An image whose programs may change a volume. */
export interface VolumeImage {
  /** Name of the volume. */
  volume: string;
  /** Id. */
  image: string;
}

/**
 * The images of containers that may write to volumes anyway. One that only reads a volume, or has something
 * around it mounted, must not get it to write through its programs.
 */
export const writingImages = (
  containers: readonly Pick<Container, "details" | "imageId">[],
): VolumeImage[] => {
  const all = containers.flatMap(({ imageId: image, details: { mounts } }) =>
    mounts.flatMap(({ type, name, readOnly }) =>
      type === "volume" && name !== null && !readOnly ? [{ volume: name, image }] : []
    )
  );
  return [...new Map(all.map((each) => [`${each.volume} ${each.image}`, each])).values()];
};

/**
 * Finds an image for each mount. A directory is changed from a directory of `STACK_ROOTS`, which has other
 * stacks as well, so that only `HELPER_IMAGE` may.
 *
 * @throws {AppError} As {@linkcode findHelperImage}.
 */
export async function findWritingImages(
  deps: VolumeDeps,
  mounts: readonly MountSource[],
  images: readonly VolumeImage[],
  signal: AbortSignal,
): Promise<HelperImage[]> {
  const found: HelperImage[] = [];
  for (const { type, source } of mounts) {
    const candidates = images.filter(({ volume }) => type === "volume" && volume === source)
      .map(({ image }) => image);
    found.push(await findHelperImage(deps, candidates, signal));
  }
  return found;
}
