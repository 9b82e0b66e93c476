/**
 * The images of the engine, as far as they are compared with those of registries.
 *
 * @module
 */

import {
  canonicalReference,
  findReference,
  type ImageReference,
} from "../../../../engine/image_reference.ts";
import { imageList } from "../../../../engine/images.ts";
import type { Deps } from "../../../deps.ts";
import type { Labels } from "../labels.ts";
import { fullImageId, imageNames } from "../../storage/images.ts";

export interface LocalImages {
  /** All ids, `sha256:...`. */
  ids: string[];
  /** The digests by which a repository knew an image when it was pulled; empty if it was not. */
  digestsOf(imageId: string, reference: ImageReference): string[];
  /** The labels of an image; `undefined` if the engine no longer has it. */
  labelsOf(imageId: string): Labels | undefined;
  /** The image that has a name now. */
  idOf(canonicalName: string): string | undefined;
}

/** @throws {EngineUnreachableError} */
export async function readLocalImages(
  { engine }: Pick<Deps, "engine">,
  signal?: AbortSignal,
): Promise<LocalImages> {
  const digests = new Map<string, string[]>();
  const named = new Map<string, string>();
  const labels = new Map<string, Labels>();
  for (const { Id, RepoDigests, RepoTags, Labels } of await imageList(engine, { signal })) {
    const id = fullImageId(Id);
    digests.set(id, imageNames(RepoDigests));
    if (Labels !== undefined) labels.set(id, Labels ?? {});
    for (const tag of imageNames(RepoTags)) {
      const reference = findReference(tag);
      if (reference) named.set(canonicalReference(reference), id);
    }
  }
  return {
    ids: [...digests.keys()],
    digestsOf: (imageId, { registry, repository }) =>
      (digests.get(imageId) ?? []).flatMap((name) => {
        const known = findReference(name);
        const isSame = known?.registry === registry && known.repository === repository;
        return isSame && known.digest ? [known.digest] : [];
      }),
    labelsOf: (imageId) => labels.get(imageId),
    idOf: (name) => named.get(name),
  };
}
