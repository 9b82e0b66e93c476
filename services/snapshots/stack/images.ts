/** Images of a stack: those that its snapshot was made of. @module */

import { EngineError } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { imageList, imageRemove, imageTag } from "../../../engine/images.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import type { Project } from "../../compose/load/resolve.ts";
import type { Deps } from "../../deps.ts";
import { imageNames } from "../../images/images.ts";
import { previousTag } from "../../images/previous_tag.ts";
import { pullImage } from "../../images/pull.ts";
import { findDescribed, pullByDigest } from "../described_images.ts";
import type { DescribedContainer, StackDescription } from "../description.ts";
import { archiveOfImage, loadSaved, savedImages } from "../saved_images.ts";
import type { StackRestoreJob } from "./job.ts";

/** An image on the engine, and the reference that has to name it while containers are created. */
interface FoundImage {
  reference: string;
  imageId: string;
}

export interface FoundImages {
  images: FoundImage[];
  warnings: string[];
}

/** Containers with the references of their images in the project: one for each reference. */
export function imagesOf(
  { containers }: StackDescription,
  { services }: Project,
): Map<string, DescribedContainer> {
  const images = new Map<string, DescribedContainer>();
  for (const container of containers) {
    const reference = services[container.service ?? ""]?.image;
    if (reference !== undefined && !images.has(reference)) images.set(reference, container);
  }
  return images;
}

/**
 * Finds each image on the engine, loads it from the snapshot, or pulls it: by its digest, else by its
 * name with a warning.
 *
 * @throws {AppError} With the registry's or the engine's refusal.
 */
export async function bringImages(
  deps: Deps,
  { repository, snapshot }: { repository: Repository; snapshot: string },
  images: ReadonlyMap<string, DescribedContainer>,
  job: Pick<StackRestoreJob, "id" | "progress" | "signal">,
): Promise<FoundImages> {
  const found: FoundImages = { images: [], warnings: [] };
  const saved = await savedImages({ repository, snapshot }, job.signal);
  for (const [reference, container] of images) {
    const { imageId: recorded } = container;
    const here = await findDescribed(deps, container);
    if (here) {
      found.images.push({ reference, imageId: fullImageId(here.Id) });
      continue;
    }
    const { imageId, isNew } = saved.has(archiveOfImage(recorded))
      ? await loadSaved(deps, { repository, snapshot }, { recorded, reference }, job)
      : await pullRecorded(deps, reference, container, job, found.warnings);
    // A restore takes hours, and a prune removes what has no name.
    if (isNew) await imageTag(deps.engine, imageId, keptName(job, imageId));
    found.images.push({ reference, imageId });
  }
  return found;
}

const keptName = ({ id }: Pick<StackRestoreJob, "id">, imageId: string) =>
  previousTag(`restore-${id}`, imageId);

/** Removes the names by which the job has kept images from being pruned, and images without another. */
export async function removeKeptNames(
  { engine }: Pick<Deps, "engine">,
  job: Pick<StackRestoreJob, "id">,
): Promise<void> {
  try {
    const { name } = keptName(job, "");
    const tags = (await imageList(engine)).flatMap(({ RepoTags }) => imageNames(RepoTags));
    for (const tag of tags) {
      if (tag.replace(/^localhost\//, "").startsWith(`${name}:`)) await imageRemove(engine, tag);
    }
  } catch (error) {
    // E.g. it is the last name of an image in use.
    if (!(error instanceof EngineError)) throw error;
  }
}

/** Origin of each image. */
export async function imageOrigins(
  deps: Pick<Deps, "engine">,
  { repository, snapshot }: { repository: Repository; snapshot: string },
  images: ReadonlyMap<string, DescribedContainer>,
  signal: AbortSignal,
): Promise<{ name: string; from: "host" | "snapshot" | "registry" }[]> {
  const saved = await savedImages({ repository, snapshot }, signal);
  return await Promise.all([...images].map(async ([name, container]) => {
    if (await findDescribed(deps, container)) return { name, from: "host" };
    return { name, from: saved.has(archiveOfImage(container.imageId)) ? "snapshot" : "registry" };
  }));
}

async function pullRecorded(
  deps: Deps,
  reference: string,
  { digests }: DescribedContainer,
  job: Pick<StackRestoreJob, "progress" | "signal">,
  warnings: string[],
): Promise<{ imageId: string; isNew: boolean }> {
  const pulled = await pullByDigest(deps, digests, job);
  if (typeof pulled === "string") return { imageId: pulled, isNew: true };
  const input = { image: reference, platform: null };
  const { imageId } = await pullImage(deps, { ...job, input });
  const reason = pulled?.message ?? "it has no digest of a registry";
  warnings.push(`Image ${reference} may not be that of the snapshot: ${reason}`);
  return { imageId, isNew: true };
}
