/** Exports of images as archives. @module */

import { imageSave } from "../../engine/image_archives.ts";
import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { readStream } from "../stream/read_stream.ts";

/**
 * Returns an archive in the format of `docker save` as a stream. The caller has a share of the
 * exports; a client that stops reading is disconnected.
 *
 * @param ref Id, unambiguous prefix of an id, or `name[:tag][@digest]`.
 * @throws {EngineError} 404 if the image does not exist.
 * @throws {AppError} `too_many_requests` above the caller's share; `unavailable` if all are taken.
 */
export async function exportImage(
  { engine, limiters }: Pick<Deps, "engine" | "limiters">,
  caller: Caller,
  ref: string,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const release = limiters.imageExports.take(caller);
  const stop = new AbortController();
  const end = () => {
    stop.abort();
    release();
  };
  try {
    const { body } = await imageSave(engine, ref, { signal: stop.signal });
    const chunks = (body as AsyncIterable<Uint8Array<ArrayBuffer>>)[Symbol.asyncIterator]();
    return readStream(async () => (await chunks.next()).value, end);
  } catch (error) {
    end();
    throw error;
  }
}
