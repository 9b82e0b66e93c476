/** Bodies of requests that are passed on to a host. @module */

import { DIGESTED_MAX } from "../../services/fleet/notes/note.ts";
import type { PassedBody } from "../../services/fleet/passing/exchange.ts";
import { GrowingBytes } from "../pipeline/growing_bytes.ts";
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
  const read = new GrowingBytes();
  while (read.size <= DIGESTED_MAX) {
    const { value } = await reader.read();
    if (!value) return { bytes: read.bytes() };
    read.append(value);
  }
  return { stream: continued(read.bytes(), reader), length };
}

/** The bytes that were read, and then the rest. */
function continued(
  read: Uint8Array<ArrayBuffer>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  let next: Uint8Array | undefined = read;
  return new ReadableStream({
    async pull(controller) {
      const value = next ?? (await reader.read()).value;
      next = undefined;
      if (value) controller.enqueue(value);
      else controller.close();
    },
    cancel: () => reader.cancel(),
  }, { highWaterMark: 0 });
}
