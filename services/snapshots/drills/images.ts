/** Images of the containers of a drill: those of this host, of the snapshot, or of registries. @module */

import { EngineError } from "../../../engine/errors.ts";
import { imageRemove } from "../../../engine/images.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { findDescribed, pullByDigest } from "../described_images.ts";
import type { DescribedContainer } from "../description.ts";
import { archiveOfImage, loadSaved } from "../saved_images.ts";

/** An image that this host does not have. */
interface MissingImage {
  /** Name by which it is shown. */
  image: string;
  digests: string[];
  /** Whether the snapshot has it. */
  isSaved: boolean;
}

/** By their recorded ids. */
export type MissingImages = Record<string, MissingImage>;

/**
 * @param saved Paths of the snapshot's archives.
 * @throws {AppError} `conflict` for an image that is neither here nor in the snapshot nor on a registry.
 */
export async function findMissing(
  deps: Pick<Deps, "engine">,
  containers: readonly DescribedContainer[],
  saved: ReadonlySet<string>,
): Promise<MissingImages> {
  const missing: MissingImages = {};
  for (const container of containers) {
    if (await findDescribed(deps, container)) continue;
    const { name, image, imageId, digests } = container;
    const isSaved = saved.has(archiveOfImage(imageId));
    if (!isSaved && digests.length === 0) {
      throw new AppError(
        "conflict",
        `This host does not have image ${image} of ${name}, and it came from no registry`,
      );
    }
    missing[imageId] = { image, digests, isSaved };
  }
  return missing;
}

/** Images that a drill has brought. */
export interface BroughtImages {
  /** By the recorded ones. */
  ids: Record<string, string>;
  /** Ids that the host had already, under which it knows an image of the snapshot. */
  known: string[];
}

/**
 * Loads images from the snapshot, else pulls them.
 *
 * @throws {AppError} With the refusal of the engine or of the last registry.
 */
export async function bringMissing(
  deps: Deps,
  source: { repository: Repository; snapshot: string },
  missing: MissingImages,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<BroughtImages> {
  const ids: Record<string, string> = {};
  const known: string[] = [];
  for (const [recorded, { image, digests, isSaved }] of Object.entries(missing)) {
    if (isSaved) {
      const { imageId, isNew } = await loadSaved(deps, source, { recorded, reference: image }, job);
      ids[recorded] = imageId;
      if (!isNew) known.push(imageId);
    } else {
      const pulled = await pullByDigest(deps, digests, job);
      if (typeof pulled !== "string") throw pulled;
      ids[recorded] = pulled;
    }
  }
  return { ids, known };
}

/** Removes those that the drill has brought, unless something else uses them by now. */
export async function removeBrought(
  { engine }: Pick<Deps, "engine">,
  missing: MissingImages,
  { ids, known }: BroughtImages = { ids: {}, known: [] },
): Promise<void> {
  const references = new Set(
    Object.entries(missing).flatMap(([recorded, { digests, isSaved }]) =>
      isSaved ? [ids[recorded] ?? recorded] : digests
    ),
  );
  for (const image of references.difference(new Set(known))) {
    try {
      await imageRemove(engine, image);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
}
