/** Images on the host. @module */

import { fullImageId } from "../../engine/image_id.ts";
import {
  type ImageDeletion,
  type ImageInspect,
  imageInspect,
  imageList,
  imagePrune,
  imageRemove,
  type ImageSummary,
} from "../../engine/images.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { engineTime } from "../containers/engine_time.ts";
import type { Container } from "../containers/inventory.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { currentContainers } from "../containers/containers.ts";
import { warningOf } from "../containers/unreadable.ts";

export interface Image {
  /** `sha256:...` */
  id: string;
  /** Empty for a dangling image. */
  repoTags: string[];
  repoDigests: string[];
  /** Bytes, including layers that are shared with other images. */
  size: number;
  /** ISO 8601, UTC; `null` if unknown. */
  createdAt: string | null;
  /** Same as `createdAt`. */
  created: string | null;
  /** Number of containers that use it, in any state. */
  containers: number;
  /** Whether it has no tag. */
  dangling: boolean;
  /** Why it was not read in full; `null` for nearly all. */
  warning: string | null;
}

interface RemovedImage {
  ok: true;
  /** Ids of deleted images and layers. */
  deleted: string[];
  /** Names that were removed. */
  untagged: string[];
}

/**
 * All images except intermediate layers, newest first. For an API token with a scope, the images of
 * its containers, with the names by which these use them.
 */
export async function listImages(deps: ReadDeps): Promise<Image[]> {
  const [images, containers] = await Promise.all([imageList(deps.engine), currentContainers(deps)]);
  const users = Map.groupBy(containers, ({ imageId }) => imageId);
  const { scope } = deps.inventory;
  return images
    .map((image) => toImage(image, users.get(fullImageId(image.Id))?.length ?? 0))
    .filter(({ containers }) => !scope || containers > 0)
    .map((image) => scope ? withNamesOf(image, users.get(image.id)!) : image)
    .sort(newestFirst);
}

/**
 * Removes a name of an image, and the image with its last name.
 *
 * @param ref Id, unambiguous prefix of an id, or `name[:tag][@digest]`.
 * @param options.force Removes all names, even if stopped containers use the image.
 * @throws {AppError} `conflict` if it is in use.
 * @throws {EngineError} 404 if the image does not exist; 409 if it is in use.
 */
export async function removeImage(
  deps: ReadDeps & Pick<Deps, "diskUsage">,
  ref: string,
  { force = false }: { force?: boolean } = {},
): Promise<RemovedImage> {
  if (force) await assertUnused(deps, ref);
  const deletions = await imageRemove(deps.engine, ref, { force });
  deps.diskUsage.invalidate();
  return { ok: true, ...toRemoved(deletions) };
}

/** Removes untagged images that no container uses. */
export async function pruneImages(
  { engine, diskUsage }: Pick<Deps, "engine" | "diskUsage">,
): Promise<{ deleted: string[]; untagged: string[]; spaceReclaimed: number }> {
  const { deleted, spaceReclaimed } = await imagePrune(engine);
  diskUsage.invalidate();
  return { ...toRemoved(deleted), spaceReclaimed };
}

/** With `force`, Podman also removes the containers that use the image. */
async function assertUnused(deps: ReadDeps, ref: string): Promise<void> {
  const id = fullImageId((await imageInspect(deps.engine, ref)).Id);
  if (deps.engine.kind !== "podman") return;
  const users = (await currentContainers(deps)).filter(({ imageId }) => imageId === id);
  if (users.length === 0) return;
  const names = users.map(({ name }) => name).join(", ");
  throw new AppError("conflict", `Image ${ref} is in use by ${names}`);
}

/** @param containers The number of containers that use it. */
export function toImage(image: ImageInspect | ImageSummary, containers: number): Image {
  const repoTags = imageNames(image.RepoTags);
  const createdAt = engineTime(image.Created);
  return {
    id: fullImageId(image.Id),
    repoTags,
    repoDigests: imageNames(image.RepoDigests),
    size: image.Size ?? 0,
    createdAt,
    created: createdAt,
    containers,
    dangling: repoTags.length === 0,
    warning: warningOf(image),
  };
}

/**
 * Keeps the names by which these containers use the image: others may be those of containers outside
 * of the scope.
 */
export function withNamesOf(image: Image, users: readonly Container[]): Image {
  const names = new Set(users.map(({ image }) => image));
  const repositories = new Set([...names].map(repositoryOf));
  return {
    ...image,
    repoTags: image.repoTags.filter((tag) => names.has(tag) || names.has(shortName(tag))),
    repoDigests: image.repoDigests.filter((digest) => repositories.has(repositoryOf(digest))),
  };
}

/** A container that was created from `nginx` uses `nginx:latest`. */
const shortName = (tag: string) => tag.replace(/:latest$/, "");

/** The name without tag and digest. */
const repositoryOf = (name: string) => name.split("@", 1)[0]!.replace(/:[^/:]*$/, "");

/** The engine reports a missing name as `<none>:<none>`. */
export function imageNames(names: readonly string[] | null | undefined): string[] {
  return (names ?? []).filter((name) => !name.includes("<none>"));
}

function toRemoved(deletions: readonly ImageDeletion[]): { deleted: string[]; untagged: string[] } {
  return {
    deleted: deletions.flatMap(({ Deleted }) => Deleted ?? []),
    untagged: deletions.flatMap(({ Untagged }) => Untagged ?? []),
  };
}

function newestFirst(a: Image, b: Image): number {
  const [left, right] = [a.createdAt ?? "", b.createdAt ?? ""];
  if (left !== right) return left < right ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}
