/** Reads what images in use are compared with. @module */

import { deleteEqualDigestsExcept, isEqualDigest } from "../../../db/updates/equal_digests.ts";
import { selectLatestDigest } from "../../../db/updates/digests.ts";
import type { Deps } from "../../deps.ts";
import type { CheckableImage } from "./in_use.ts";
import { readLocalImages } from "./local_images.ts";
import type { Known } from "./status.ts";

/** @throws {EngineUnreachableError} */
export async function readKnown(
  deps: Pick<Deps, "db" | "engine">,
  signal?: AbortSignal,
): Promise<Known> {
  const { db } = deps;
  const local = await readLocalImages(deps, signal);
  const fromRegistry = new Map<string, boolean>();
  const isFromRegistry = ({ image, reference, users }: CheckableImage) => {
    const ids = [local.idOf(image), ...users.map(({ container }) => container.imageId)];
    return ids.some((id) => id !== undefined && local.digestsOf(id, reference).length > 0) ||
      selectLatestDigest(db, image) !== undefined;
  };
  return {
    local,
    isEqual: (equal) => isEqualDigest(db, equal),
    digestsOf(image, imageId) {
      const known = fromRegistry.get(image.image) ?? isFromRegistry(image);
      fromRegistry.set(image.image, known);
      return local.digestsOf(imageId, image.reference, known);
    },
  };
}

/** Forgets what is equal to images that the engine no longer has. */
export function forgetRemovedImages({ db }: Pick<Deps, "db">, { local }: Known): void {
  deleteEqualDigestsExcept(db, local.ids);
}
