/** The blocks of `text/event-stream`, as they were sent. @module */

export interface SseBlocks {
  /** Waits for the next block, as its fields by name; `undefined` at the end of the stream. */
  next(): Promise<ReadonlyMap<string, string> | undefined>;
  cancel(): Promise<void>;
}

/** Reads a stream in which each field of a block has one line. */
export function sseBlocks(stream: ReadableStream<Uint8Array>): SseBlocks {
  const reader = stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader();
  let text = "";
  return {
    async next() {
      let end: number;
      while ((end = text.indexOf("\n\n")) < 0) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        text += value;
      }
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      return new Map(lines.map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      }));
    },
    cancel: () => reader.cancel(),
  };
}
