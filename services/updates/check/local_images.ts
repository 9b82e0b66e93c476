/** The images of the engine, as far as they are compared with those of registries. @module */

import { fullImageId } from "../../../engine/image_id.ts";
import {
  canonicalReference,
  findReference,
  type ImageReference,
} from "../../../engine/image_reference.ts";
import { imageList, type ImageSummary } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import type { Labels } from "../labels.ts";
import { imageNames } from "../../images/images.ts";

export interface LocalImages {
  /** All ids, `sha256:...`. */
  ids: string[];
  /**
   * The digests by which a repository knows an image; empty if it came from elsewhere, as far as the
   * engine says. In an image store whose ids are digests, an image may have lost its names: then it
   * is known by its id if `isFromRegistry`.
   */
  digestsOf(imageId: string, reference: ImageReference, isFromRegistry?: boolean): string[];
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
  const images = await imageList(engine, { signal });
  const hasDigestIds = images.some(isKnownById);
  for (const { Id, RepoDigests, RepoTags, Labels } of images) {
    const id = fullImageId(Id);
    if (Labels !== undefined) labels.set(id, Labels ?? {});
    const names = imageNames(RepoDigests);
    for (const tag of imageNames(RepoTags)) {
      const reference = findReference(tag);
      if (!reference) continue;
      named.set(canonicalReference(reference), id);
      // The list has the digest of one of its repositories only.
      if (hasDigestIds) names.push(`${reference.name}@${id}`);
    }
    digests.set(id, names);
  }
  return {
    ids: [...digests.keys()],
    digestsOf(imageId, { registry, repository }, isFromRegistry = false) {
      const found = (digests.get(imageId) ?? []).flatMap((name) => {
        const known = findReference(name);
        const isSame = known?.registry === registry && known.repository === repository;
        return isSame && known.digest ? [known.digest] : [];
      });
      const isById = found.length === 0 && isFromRegistry && hasDigestIds && digests.has(imageId);
      return isById ? [imageId] : [...new Set(found)];
    },
    labelsOf: (imageId) => labels.get(imageId),
    idOf: (name) => named.get(name),
  };
}

/** Whether the id of an image is its digest, as in containerd's image store. */
const isKnownById = ({ Id, Descriptor, RepoDigests }: ImageSummary): boolean =>
  Descriptor?.digest === Id || imageNames(RepoDigests).some((name) => name.endsWith(`@${Id}`));
