/** Streams of a source that is read only as fast as the client reads. @module */

/** A client that has not read for this long is disconnected, in milliseconds. */
const STALL_MAX_MS = 60_000;

/**
 * Streams what `read` returns; `undefined` ends the stream.
 *
 * @param close Releases the source: after its end or failure, when the client has left, and when it
 * has not read for `stallMaxMs`. May be called again.
 */
export function readStream<Chunk>(
  read: () => Promise<Chunk | undefined>,
  close: () => void,
  stallMaxMs = STALL_MAX_MS,
): ReadableStream<Chunk> {
  let stall: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(stall);
    close();
  };
  return new ReadableStream<Chunk>({
    async pull(controller) {
      clearTimeout(stall);
      try {
        const chunk = await read();
        if (chunk === undefined) {
          end();
          return controller.close();
        }
        controller.enqueue(chunk);
      } catch (error) {
        end();
        throw error;
      }
      stall = setTimeout(() => {
        end();
        controller.error(new Error("the client has stopped reading"));
      }, stallMaxMs);
    },
    cancel: end,
  }, { highWaterMark: 0 });
}
