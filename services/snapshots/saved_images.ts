/** Images that a snapshot has as archives, so that a host without a registry can be restored. @module */

import type { Engine } from "../../engine/client.ts";
import { ifThere } from "../../engine/errors.ts";
import { imageLoad, imageSave } from "../../engine/image_archives.ts";
import { fullImageId } from "../../engine/image_id.ts";
import { imageInspect, imageList } from "../../engine/images.ts";
import type { Entries } from "../backup/restic/entry.ts";
import { bytesOf } from "../backup/restic/entry_directory.ts";
import { findEntry } from "../backup/trees/find_entry.ts";
import { createFailureWatch } from "../backup/trees/failure_watch.ts";
import type { Repository } from "../backup/restic/repository.ts";
import { asTargetError, translated } from "../backup/targets/repository.ts";
import { readRoom } from "../backup/targets/targets.ts";
import type { Container } from "../containers/inventory.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { asJobError } from "../images/errors.ts";
import type { JobRun } from "../jobs/kind.ts";
import { type RoomDeps, whileThereIsRoom } from "../updates/trial/room.ts";
import { withoutImageNames } from "./image_archive.ts";
import { assertRoom } from "./target_room.ts";

/** Directory of a snapshot with the archives. */
export const IMAGES_DIRECTORY = "images";

/** Path of the archive of an image in a snapshot. */
export const archiveOfImage = (imageId: string): string =>
  `${IMAGES_DIRECTORY}/${imageId.replace(/^sha256:/, "")}.tar`;

/** An image in the format of `docker save`, read when its content is asked for. */
interface SavedImage {
  /** In the snapshot. */
  path: string;
  content: AsyncIterable<Uint8Array>;
}

/** The images of containers, each once, by path. */
export function imagesToSave(
  engine: Engine,
  containers: readonly Pick<Container, "imageId">[],
  signal: AbortSignal,
): SavedImage[] {
  const ids = [...new Set(containers.map(({ imageId }) => imageId))].sort();
  return ids.map((id) => ({
    path: archiveOfImage(id),
    content: archiveContent(engine, id, signal),
  }));
}

async function* archiveContent(
  engine: Engine,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  yield* (await imageSave(engine, id, { signal })).body;
}

/** Origin of archives. */
interface SavedFrom {
  repository: Repository;
  /** Its id. */
  snapshot: string;
}

/** Paths of the archives in a snapshot. */
export async function savedImages(
  { repository, snapshot }: SavedFrom,
  signal: AbortSignal,
): Promise<Set<string>> {
  const directory = bytesOf(IMAGES_DIRECTORY);
  const paths = new Set<string>();
  if (!await findEntry(repository, snapshot, directory, signal)) return paths;
  await translated(async () => {
    for await (const { path } of repository.listDirectory(snapshot, directory, signal)) {
      paths.add(path);
    }
  });
  return paths;
}

/**
 * Loads an image, which gets no name.
 *
 * @returns Its id: an engine with another image store gives the same image another one, by which it may
 * have had it before (`isNew` is false then).
 * @throws {AppError} `conflict` for an archive that is not one of images, or is larger than the disk.
 */
export async function loadSaved(
  deps: RoomDeps & Pick<Deps, "diskUsage">,
  { repository, snapshot }: SavedFrom,
  { recorded, reference }: { recorded: string; reference: string },
  { signal, progress }: Pick<JobRun, "progress" | "signal">,
): Promise<{ imageId: string; isNew: boolean }> {
  const before = new Set((await imageList(deps.engine)).map(({ Id }) => fullImageId(Id)));
  const archive = repository.readFile(snapshot, bytesOf(archiveOfImage(recorded)), {}, signal);
  const message = `Loading ${reference}`;
  let current = 0;
  const onSent = (bytes: number) => progress({ current: current += bytes, total: null, message });
  const { watch, failure } = createFailureWatch();
  const pass = (entries: Entries) => whileThereIsRoom(deps, entries, "it needs");
  const content = watch(withoutImageNames(archive, pass));
  try {
    const loaded = await imageLoad(deps.engine, ReadableStream.from(content), { signal, onSent });
    for (const name of [recorded, ...loaded]) {
      const image = await ifThere(imageInspect(deps.engine, name));
      if (!image) continue;
      const imageId = fullImageId(image.Id);
      return { imageId, isNew: !before.has(imageId) };
    }
  } catch (error) {
    const what = `Image ${reference} could not be loaded from the snapshot`;
    const cause = asTargetError(failure());
    if (cause instanceof AppError) throw new AppError(cause.code, `${what}: ${cause.message}`);
    throw asJobError(error, what);
  } finally {
    deps.diskUsage.invalidate();
  }
  throw new AppError("conflict", `The snapshot's archive of image ${reference} has another image`);
}

/**
 * Images are stored compressed, and once: the room has to suffice for the first time, as far as the target
 * tells it.
 *
 * @throws {AppError} `conflict` with both sizes.
 */
export async function assertRoomForImages(
  deps: Deps,
  { id, name }: { id: string; name: string },
  { containers }: { containers: readonly Pick<Container, "imageId">[] },
): Promise<void> {
  let added = 0;
  for (const image of new Set(containers.map(({ imageId }) => imageId))) {
    added += (await ifThere(imageInspect(deps.engine, image)))?.Size ?? 0;
  }
  const room = await readRoom(deps, { id });
  assertRoom({ added, room }, name, {
    what: "the images",
    advice: "leave them out (withImages)",
  });
}
