/**
 * Server-Sent Events as bytes (WHATWG HTML 9.2.5).
 *
 * @module
 */

/** Some bytes of a stream; shared by clients, so never written to. */
export type StreamChunk = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** A frame without its id line. JSON has no line breaks, so one line of data is all there is. */
export function encode(type: string, data: unknown): StreamChunk {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A frame without data, which clients ignore. */
export const COMMENT: StreamChunk = encoder.encode(":\n\n");

/** How soon a client that lost its connection comes back, in milliseconds. */
export function retryLine(ms: number): StreamChunk {
  return encoder.encode(`retry: ${ms}\n\n`);
}

/** The id of the frame that follows. */
export function idLine(id: number): StreamChunk {
  return encoder.encode(`id: ${id}\n`);
}

/** All pieces in one. */
export function join(pieces: readonly StreamChunk[]): StreamChunk {
  const joined = new Uint8Array(lengthOf(pieces));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/** Of all together, in bytes. */
export function lengthOf(chunks: readonly StreamChunk[]): number {
  return chunks.reduce((length, chunk) => length + chunk.length, 0);
}

/** Takes the first `length` bytes off `chunks`, or all. */
export function cut(chunks: StreamChunk[], length: number): StreamChunk[] {
  const pieces: StreamChunk[] = [];
  for (let room = length; room > 0 && chunks.length > 0;) {
    const chunk = chunks[0]!;
    const piece = chunk.subarray(0, room);
    pieces.push(piece);
    room -= piece.length;
    if (piece.length === chunk.length) chunks.shift();
    else chunks[0] = chunk.subarray(piece.length);
  }
  return pieces;
}
