/** Images that a snapshot has as archives, so that a host without a registry can be restored. @module */

import { imageSave } from "../../engine/image_archives.ts";
import type { Engine } from "../../engine/client.ts";
import type { Container } from "../containers/inventory.ts";

/** Directory of a snapshot with the archives. */
export const IMAGES_DIRECTORY = "images";

/** Path of the archive of an image in a snapshot. */
export const archiveOfImage = (imageId: string): string =>
  `${IMAGES_DIRECTORY}/${imageId.replace(/^sha256:/, "")}.tar`;

/** An image in the format of `docker save`, read when its content is asked for. */
export interface SavedImage {
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
  return ids.map((id) => ({ path: archiveOfImage(id), content: archiveContent(engine, id, signal) }));
}

async function* archiveContent(
  engine: Engine,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  yield* (await imageSave(engine, id, { signal })).body;
}
