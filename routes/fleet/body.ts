/** Bodies of requests that are passed on to a host. @module */

import { DIGESTED_MAX } from "../../services/fleet/notes/note.ts";
import type { PassedBody } from "../../services/fleet/passing/exchange.ts";
import { lengthOf, readUpload } from "../pipeline/upload.ts";

/**
 * Reads a body that is small enough for a digest, and leaves a larger one as a stream.
 *
 * @param assertAllowed Checks the caller again while a large body is read.
 * @returns `null` for a request without one.
 */
export async function readBody(
  request: Request,
  assertAllowed: () => Promise<void>,
): Promise<PassedBody | null> {
  if (request.body === null) return null;
  const length = lengthOf(request.headers);
  const stream = readUpload(request, { bytesMax: Infinity, assertAllowed });
  if (length !== null && length > DIGESTED_MAX) return { stream, length };

  const reader = stream.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; size <= DIGESTED_MAX;) {
    const { value } = await reader.read();
    if (!value) return { bytes: await new Blob(pieces).bytes() };
    // A piece is valid until the next read only.
    pieces.push(value.slice());
    size += value.length;
  }
  return { stream: continued(pieces, reader), length };
}

/** The pieces that were read, and then the rest. */
function continued(
  pieces: Uint8Array<ArrayBuffer>[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const value = pieces.shift() ?? (await reader.read()).value;
      if (value) controller.enqueue(value);
      else controller.close();
    },
    cancel: () => reader.cancel(),
  }, { highWaterMark: 0 });
}
