/** Digests that a pull has shown to be equal to an image in use. @module */

import { insertEqualDigest } from "../../db/updates/equal_digests.ts";
import { selectCheckedImage } from "../../db/updates/images.ts";
import { canonicalReference, parseReference } from "../../engine/image_reference.ts";
import type { Deps } from "../deps.ts";

/**
 * Records the result of a pull. If a container already ran the pulled image, the image is equal to
 * what the registry has, even if the engine does not list that digest.
 *
 * @param pulled.image The reference that was pulled.
 */
export function recordPull(
  { db, inventory }: Pick<Deps, "db" | "inventory">,
  { image, imageId }: { image: string; imageId: string },
): void {
  const checked = selectCheckedImage(db, canonicalReference(parseReference(image)));
  const digest = checked?.latestDigest ?? null;
  if (digest === null || !inventory.list().some((each) => each.imageId === imageId)) return;
  insertEqualDigest(db, { imageId, digest });
}
