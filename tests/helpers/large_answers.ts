/** Answers of an engine with objects whose texts are very large, none of which is in memory as a whole. @module */

import type { FakeAnswer } from "./fake_engine.ts";

/** In an answer, it stands for a very large text. */
export const LARGE = "<large>";

/** The same answers, with {@linkcode LARGE} replaced by so many bytes. */
export const withLarge = (
  answers: Record<string, FakeAnswer>,
  bytes: number,
): Record<string, FakeAnswer> =>
  Object.fromEntries(
    Object.entries(answers).map(([call, answer]) => [call, async (request) => {
      const response = await answer(request);
      if (!call.startsWith("GET ") || !call.endsWith("json") && !call.endsWith("s")) {
        return response;
      }
      const parts = (await response.text()).split(LARGE);
      return new Response(ReadableStream.from(chunksOf(parts, bytes)), response);
    }]),
  );

function* chunksOf(parts: readonly string[], bytes: number): Generator<Uint8Array<ArrayBuffer>> {
  const filler = new Uint8Array(512 * 1024).fill(0x78);
  for (const [index, part] of parts.entries()) {
    if (index > 0) { for (let sent = 0; sent < bytes; sent += filler.length) yield filler; }
    yield new TextEncoder().encode(part);
  }
}
