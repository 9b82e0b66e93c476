/** A client of the event stream. @module */

import { sseBlocks } from "./sse_blocks.ts";

/** One frame as it was sent. */
export interface SseFrame {
  id: number;
  type: string;
  // deno-lint-ignore no-explicit-any
  data: any;
}

export interface SseClient {
  /** Waits for the next frame; `undefined` at the end of the stream. */
  next(): Promise<SseFrame | undefined>;
  /** Waits for this number of frames, or fewer if the stream ends. */
  take(count: number): Promise<SseFrame[]>;
  /** Everything to the end of the stream. */
  rest(): Promise<SseFrame[]>;
  /** Closes the connection. */
  cancel(): Promise<void>;
  /** The reconnection time in milliseconds, once it was sent. */
  readonly retry: number | undefined;
}

/** Reads a stream of frames. */
export function sseClient(stream: ReadableStream<Uint8Array>): SseClient {
  const blocks = sseBlocks(stream);
  let retry: number | undefined;

  const client: SseClient = {
    async next() {
      for (;;) {
        const fields = await blocks.next();
        if (!fields) return undefined;
        if (fields.has("retry")) retry ??= Number(fields.get("retry"));
        const type = fields.get("event");
        if (type !== undefined) {
          const data = JSON.parse(fields.get("data") ?? "null");
          return { id: Number(fields.get("id")), type, data };
        }
      }
    },
    async take(count) {
      const frames: SseFrame[] = [];
      while (frames.length < count) {
        const frame = await client.next();
        if (!frame) break;
        frames.push(frame);
      }
      return frames;
    },
    rest: () => client.take(Infinity),
    cancel: blocks.cancel,
    get retry() {
      return retry;
    },
  };
  return client;
}
