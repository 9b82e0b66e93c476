/** Responses that are streams of server-sent events. @module */

export function eventStream(frames: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  return new Response(frames, {
    // Prevents nginx from buffering frames.
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" },
  });
}
