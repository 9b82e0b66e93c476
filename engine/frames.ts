/**
 * Standard output and error on one connection: the engine precedes each piece with a header of
 * 8 bytes, unless the container has a terminal
 * (https://docs.docker.com/reference/api/engine/version/v1.41/#operation/ContainerAttach).
 *
 * @module
 */

import { EngineError, EngineProtocolError } from "./errors.ts";
import { transform } from "./transform.ts";

/** A piece of a program's output. */
export interface Frame {
  stream: "stdout" | "stderr";
  bytes: Uint8Array;
}

/** Largest accepted frame; engines send about 64 KiB at most. */
const FRAME_MAX = 16 * 1024 * 1024;

const HEADER_LENGTH = 8;

/** Stream number of an engine failure, which ends the stream. */
const SYSTEM_ERROR = 3;

/**
 * Separates the frames of a multiplexed stream. Frames are complete, whatever the chunk boundaries;
 * only the last one is partial if the stream ends within it.
 *
 * @throws {EngineProtocolError} For an invalid header or a frame above 16 MiB.
 * @throws {EngineError} 500 if the engine reports a failure in the stream.
 */
export function frames(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Frame> {
  return transform(chunks, splitFrames);
}

/** Turns the stream of a terminal into frames: everything is `stdout`. */
export function rawFrames(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Frame> {
  return transform(chunks, async function* (chunks) {
    for await (const bytes of chunks) yield { stream: "stdout", bytes };
  });
}

async function* splitFrames(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Frame, void, undefined> {
  const header = new Uint8Array(HEADER_LENGTH);
  let headerLength = 0;
  let kind = 0;
  let missing = 0;
  let parts: Uint8Array[] = [];

  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      if (missing === 0) {
        const taken = chunk.subarray(at, at + HEADER_LENGTH - headerLength);
        header.set(taken, headerLength);
        headerLength += taken.length;
        at += taken.length;
        if (headerLength < HEADER_LENGTH) continue;
        headerLength = 0;
        ({ kind, length: missing } = parseHeader(header));
        continue;
      }
      const taken = chunk.subarray(at, at + missing);
      at += taken.length;
      missing -= taken.length;
      parts.push(taken);
      if (missing > 0) continue;
      const bytes = concat(parts);
      parts = [];
      yield frame(kind, bytes);
    }
  }
  if (parts.length > 0) yield frame(kind, concat(parts));
}

function parseHeader(header: Uint8Array): { kind: number; length: number } {
  const [kind = 0, zero1, zero2, zero3, a = 0, b = 0, c = 0, d = 0] = header;
  if (kind > SYSTEM_ERROR || zero1 !== 0 || zero2 !== 0 || zero3 !== 0) {
    throw new EngineProtocolError("The container engine sent output without its frame header");
  }
  const length = a * 0x1000000 + (b << 16) + (c << 8) + d;
  if (length > FRAME_MAX) {
    throw new EngineProtocolError(
      `The container engine sent a frame of ${length} bytes, more than the ${FRAME_MAX} allowed`,
    );
  }
  return { kind, length };
}

function frame(kind: number, bytes: Uint8Array): Frame {
  if (kind === SYSTEM_ERROR) throw new EngineError(500, new TextDecoder().decode(bytes));
  // Old engines mark output as 0, which stands for standard input.
  return { stream: kind === 2 ? "stderr" : "stdout", bytes };
}

function concat(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  let length = 0;
  for (const part of parts) length += part.length;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
