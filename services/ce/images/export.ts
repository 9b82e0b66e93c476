/**
 * Exports of images as archives.
 *
 * @module
 */

import { imageSave } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { aborted } from "../../lifecycle.ts";
import { readStream } from "../../stream/read_stream.ts";

/**
 * Returns an archive in the format of `docker save` as a stream. At most four run at a time, because
 * the engine may copy the image first; a client that stops reading is disconnected.
 *
 * @param ref Id, unambiguous prefix of an id, or `name[:tag][@digest]`.
 * @throws {EngineError} 404 if the image does not exist.
 * @throws {ThrottledError} If too many are waiting.
 */
export async function exportImage(
  { engine, limiters }: Pick<Deps, "engine" | "limiters">,
  ref: string,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const stop = new AbortController();
  const opened = Promise.withResolvers<ReadableStream<Uint8Array<ArrayBuffer>>>();
  limiters.imageExports(async () => {
    const { body } = await imageSave(engine, ref, { signal: stop.signal });
    const chunks = (body as AsyncIterable<Uint8Array<ArrayBuffer>>)[Symbol.asyncIterator]();
    opened.resolve(readStream(async () => (await chunks.next()).value, () => stop.abort()));
    await aborted(stop.signal);
  }).catch(opened.reject);
  return await opened.promise;
}
