/** Responses that are streams of server-sent events. @module */

/** @param options.isCompressed Whether the frames are compressed with gzip. */
export function eventStream(
  frames: ReadableStream<Uint8Array<ArrayBuffer>>,
  { isCompressed = false }: { isCompressed?: boolean } = {},
): Response {
  return new Response(frames, {
    headers: {
      "content-type": "text/event-stream",
      // Prevents nginx from buffering frames.
      "x-accel-buffering": "no",
      ...(isCompressed && { "content-encoding": "gzip" }),
    },
  });
}
