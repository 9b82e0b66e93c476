/**
 * Images on the host.
 *
 * @module
 */

import {
  type ImageDeletion,
  imageInspect,
  imageList,
  imagePrune,
  imageRemove,
  type ImageSummary,
} from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { engineTime } from "../../state/engine_time.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { currentContainers } from "../containers/containers.ts";
import { forgetDiskUsage } from "./disk_usage.ts";

export interface Image {
  /** `sha256:...` */
  id: string;
  /** Empty for a dangling one. */
  repoTags: string[];
  repoDigests: string[];
  /** Bytes, layers that are shared with others included. */
  size: number;
  /** ISO 8601, UTC; `null` where the image does not tell. */
  createdAt: string | null;
  /** Same as `createdAt`. */
  created: string | null;
  /** How many containers use it, in whatever state. */
  containers: number;
  /** Whether it has no tag (any more). */
  dangling: boolean;
}

export interface RemovedImage {
  ok: true;
  /** Ids of images and layers that are gone. */
  deleted: string[];
  /** Names that were taken off. */
  untagged: string[];
}

/** Images, newest first; without those that are only layers of others. */
export async function listImages(deps: ReadDeps): Promise<Image[]> {
  const [images, containers] = await Promise.all([
    imageList(deps.engine),
    currentContainers(deps),
  ]);
  const users = Map.groupBy(containers, ({ imageId }) => imageId);
  return images
    .map((image) => asImage(image, (id) => users.get(id)?.length ?? 0))
    .sort(newestFirst);
}

/**
 * Takes a name off an image, and removes the image when that was its last.
 *
 * @param ref Id, unambiguous beginning of one, or `name[:tag][@digest]`.
 * @param options.force Also when containers that do not run use it, and with all of its names.
 * @throws {AppError} `conflict` when it is in use.
 * @throws {EngineError} 404 when there is no such image; 409 when it is in use.
 */
export async function removeImage(
  deps: ReadDeps,
  ref: string,
  { force = false }: { force?: boolean } = {},
): Promise<RemovedImage> {
  if (force) await assertContainersStay(deps, ref);
  const deletions = await imageRemove(deps.engine, ref, { force });
  forgetDiskUsage(deps);
  return { ok: true, ...asRemoved(deletions) };
}

/** Removes the images that have no tag and that no container uses. */
export async function pruneImages(
  { engine }: Pick<Deps, "engine">,
): Promise<{ deleted: string[]; untagged: string[]; spaceReclaimed: number }> {
  const { deleted, spaceReclaimed } = await imagePrune(engine);
  forgetDiskUsage({ engine });
  return { ...asRemoved(deleted), spaceReclaimed };
}

/** Podman takes "force" as the permission to remove the containers as well, running or not. */
async function assertContainersStay(deps: ReadDeps, ref: string): Promise<void> {
  const id = fullId((await imageInspect(deps.engine, ref)).Id);
  if (deps.engine.kind !== "podman") return;
  const users = (await currentContainers(deps)).filter(({ imageId }) => imageId === id);
  if (users.length === 0) return;
  const names = users.map(({ name }) => name).join(", ");
  throw new AppError("conflict", `Image ${ref} is in use by ${names}`);
}

function asImage(summary: ImageSummary, usersOf: (id: string) => number): Image {
  const id = fullId(summary.Id);
  const repoTags = withoutNone(summary.RepoTags);
  const createdAt = engineTime(summary.Created);
  return {
    id,
    repoTags,
    repoDigests: withoutNone(summary.RepoDigests),
    size: summary.Size,
    createdAt,
    created: createdAt,
    containers: usersOf(id),
    dangling: repoTags.length === 0,
  };
}

/** Podman leaves the algorithm out. */
function fullId(id: string): string {
  return id.includes(":") ? id : `sha256:${id}`;
}

/** The engine writes `<none>:<none>` for no name at all. */
function withoutNone(names: string[] | null): string[] {
  return (names ?? []).filter((name) => !name.includes("<none>"));
}

function asRemoved(deletions: readonly ImageDeletion[]): { deleted: string[]; untagged: string[] } {
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
