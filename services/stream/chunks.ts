/** Server-Sent Events as bytes (WHATWG HTML 9.2.5). @module */

/** Bytes of a stream. Clients share them, so they are never modified. */
export type StreamChunk = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** Encodes a frame without its id line. JSON has no line breaks, so that one data line is enough. */
export function encode(type: string, data: unknown): StreamChunk {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A frame without data, which clients ignore. */
export const COMMENT: StreamChunk = encoder.encode(":\n\n");

/** Encodes the delay after which a client reconnects, in milliseconds. */
export function retryLine(ms: number): StreamChunk {
  return encoder.encode(`retry: ${ms}\n\n`);
}

/** Encodes the id of the frame that follows. */
export function idLine(id: number): StreamChunk {
  return encoder.encode(`id: ${id}\n`);
}

export function join(pieces: readonly StreamChunk[]): StreamChunk {
  const joined = new Uint8Array(lengthOf(pieces));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/** Returns the total length, in bytes. */
export function lengthOf(chunks: readonly StreamChunk[]): number {
  return chunks.reduce((length, chunk) => length + chunk.length, 0);
}

/** Removes up to `length` bytes from the start of `chunks` and returns them. */
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
