/** Images of a stack: those that its snapshot was made of. @module */

import { imageLoad } from "../../../engine/image_archives.ts";
import { ifThere } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import { bytesOf } from "../../backup/restic/entry_directory.ts";
import { translated } from "../../backup/targets/repository.ts";
import type { Project } from "../../compose/load/resolve.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { asJobError } from "../../images/errors.ts";
import { pullImage } from "../../images/pull.ts";
import { findDescribed, pullByDigest } from "../described_images.ts";
import type { DescribedContainer, StackDescription } from "../description.ts";
import { archiveOfImage, IMAGES_DIRECTORY } from "../saved_images.ts";
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
  job: Pick<StackRestoreJob, "progress" | "signal">,
): Promise<FoundImages> {
  const found: FoundImages = { images: [], warnings: [] };
  const saved = await savedImages(repository, snapshot, job.signal);
  for (const [reference, container] of images) {
    const { imageId: recorded } = container;
    const archive = archiveOfImage(recorded);
    const here = await findDescribed(deps, container);
    const imageId = here
      ? fullImageId(here.Id)
      : saved.has(archive)
      ? await loadSaved(deps, { repository, snapshot, archive, recorded, reference }, job)
      : await pullRecorded(deps, reference, container, job, found.warnings);
    found.images.push({ reference, imageId });
  }
  return found;
}

/** Origin of each image. */
export async function imageOrigins(
  deps: Pick<Deps, "engine">,
  { repository, snapshot }: { repository: Repository; snapshot: string },
  images: ReadonlyMap<string, DescribedContainer>,
  signal: AbortSignal,
): Promise<{ name: string; from: "host" | "snapshot" | "registry" }[]> {
  const saved = await savedImages(repository, snapshot, signal);
  return await Promise.all([...images].map(async ([name, container]) => {
    if (await findDescribed(deps, container)) return { name, from: "host" };
    return { name, from: saved.has(archiveOfImage(container.imageId)) ? "snapshot" : "registry" };
  }));
}

/** Paths of the archives in a snapshot. */
async function savedImages(
  repository: Repository,
  snapshot: string,
  signal: AbortSignal,
): Promise<Set<string>> {
  const directory = bytesOf(IMAGES_DIRECTORY);
  return await translated(async () => {
    const paths = new Set<string>();
    let isThere = false;
    for await (const { path } of repository.listDirectory(snapshot, "", signal)) {
      isThere ||= path === directory;
    }
    if (!isThere) return paths;
    for await (const { path } of repository.listDirectory(snapshot, directory, signal)) {
      paths.add(path);
    }
    return paths;
  });
}

/** An engine with another image store gives the same image another id. */
async function loadSaved(
  deps: Deps,
  { repository, snapshot, archive, recorded, reference }: {
    repository: Repository;
    snapshot: string;
    archive: string;
    recorded: string;
    reference: string;
  },
  { signal, progress }: Pick<StackRestoreJob, "progress" | "signal">,
): Promise<string> {
  const content = repository.readFile(snapshot, bytesOf(archive), {}, signal);
  let current = 0;
  try {
    const loaded = await translated(() =>
      imageLoad(deps.engine, ReadableStream.from(content), {
        signal,
        onSent: (bytes) =>
          progress({ current: current += bytes, total: null, message: `Loading ${reference}` }),
      })
    );
    for (const name of [recorded, ...loaded]) {
      const image = await ifThere(imageInspect(deps.engine, name));
      if (image) return fullImageId(image.Id);
    }
  } catch (error) {
    throw asJobError(error, `Image ${reference} could not be loaded from the snapshot`);
  } finally {
    deps.diskUsage.invalidate();
  }
  throw new AppError("conflict", `The snapshot's archive of image ${reference} has another image`);
}

async function pullRecorded(
  deps: Deps,
  reference: string,
  { digests }: DescribedContainer,
  job: Pick<StackRestoreJob, "progress" | "signal">,
  warnings: string[],
): Promise<string> {
  const pulled = await pullByDigest(deps, digests, job);
  if (typeof pulled === "string") return pulled;
  const input = { image: reference, platform: null };
  const { imageId } = await pullImage(deps, { ...job, input });
  const reason = pulled?.message ?? "it has no digest of a registry";
  warnings.push(`Image ${reference} may not be that of the snapshot: ${reason}`);
  return imageId;
}
