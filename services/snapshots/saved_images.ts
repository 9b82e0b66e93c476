/** Images that a snapshot has as archives, so that a host without a registry can be restored. @module */

import type { Engine } from "../../engine/client.ts";
import { ifThere } from "../../engine/errors.ts";
import { imageSave } from "../../engine/image_archives.ts";
import { imageInspect } from "../../engine/images.ts";
import { openTarget } from "../backup/targets/targets.ts";
import type { Container } from "../containers/inventory.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { byteText } from "../text/bytes.ts";

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

/** Longest wait for the room of a target, in milliseconds. */
const ROOM_MS = 10_000;

/**
 * Images are stored compressed, and once: the room has to suffice for the first time, as far as the target
 * tells it.
 *
 * @throws {AppError} `conflict` with both sizes.
 */
export async function assertRoomForImages(
  deps: Deps,
  targetId: string,
  { containers }: { containers: readonly Pick<Container, "imageId">[] },
): Promise<void> {
  const { storage, target } = await openTarget(deps, targetId);
  const room = await storage.room?.(AbortSignal.timeout(ROOM_MS));
  if (room === undefined) return;
  let size = 0;
  for (const id of new Set(containers.map(({ imageId }) => imageId))) {
    size += (await ifThere(imageInspect(deps.engine, id)))?.Size ?? 0;
  }
  if (size <= room) return;
  throw new AppError(
    "conflict",
    `The images have ${byteText(size)}, and ${target.name} has ${byteText(room)} left; free some ` +
      "room, or leave them out (withImages)",
  );
}
