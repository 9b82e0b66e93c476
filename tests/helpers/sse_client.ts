/**
 * A client of the event stream.
 *
 * @module
 */

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
export function sseClient(stream: ReadableStream<Uint8Array<ArrayBuffer>>): SseClient {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let retry: number | undefined;

  const client: SseClient = {
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end < 0) {
          const { done, value } = await reader.read();
          if (done) return undefined;
          text += value;
          continue;
        }
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        retry ??= field("retry") === undefined ? undefined : Number(field("retry"));
        const type = field("event");
        if (type !== undefined) {
          return { id: Number(field("id")), type, data: JSON.parse(field("data") ?? "null") };
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
    cancel: () => reader.cancel(),
    get retry() {
      return retry;
    },
  };
  return client;
}
