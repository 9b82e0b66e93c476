/**
 * Exports of images as archives.
 *
 * @module
 */

import { imageSave } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";

/**
 * Returns an archive in the format of `docker save` as a stream. At most four run at a time, because
 * the engine may copy the image first.
 *
 * @param ref Id, unambiguous prefix of an id, or `name[:tag][@digest]`.
 * @throws {EngineError} 404 if the image does not exist.
 * @throws {ThrottledError} If too many are waiting.
 */
export async function exportImage(
  { engine, limiters }: Pick<Deps, "engine" | "limiters">,
  ref: string,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const opened = Promise.withResolvers<ReadableStream<Uint8Array<ArrayBuffer>>>();
  limiters.imageExports(async () => {
    const { body } = await imageSave(engine, ref);
    const ended = Promise.withResolvers<void>();
    opened.resolve(streamOf(body as AsyncIterable<Uint8Array<ArrayBuffer>>, ended.resolve));
    await ended.promise;
  }).catch(opened.reject);
  return await opened.promise;
}

/** @param onEnd Called when the stream has ended, failed or was cancelled. */
function streamOf<Chunk>(source: AsyncIterable<Chunk>, onEnd: () => void): ReadableStream<Chunk> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream<Chunk>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    async cancel() {
      await chunks.return?.();
      onEnd();
    },
  }, { highWaterMark: 0 });
}
