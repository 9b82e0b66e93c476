/**
 * Standard output and error from one connection: the engine puts 8 bytes before each piece, unless
 * the container has a terminal
 * (https://docs.docker.com/reference/api/engine/version/v1.41/#operation/ContainerAttach).
 *
 * @module
 */

import { EngineError, EngineProtocolError } from "./errors.ts";
import { transformed } from "./transform.ts";

/** A piece of what a program wrote. */
export interface Frame {
  stream: "stdout" | "stderr";
  bytes: Uint8Array;
}

/** Largest frame that is taken; the engine's own are at most 64 KiB or so. */
const FRAME_MAX = 16 * 1024 * 1024;

const HEADER_LENGTH = 8;

/** Stream number of a failure inside the engine itself, which ends the stream. */
const SYSTEM_ERROR = 3;

/**
 * Separates the frames of a multiplexed stream. Frames come whole, however the chunks are cut; one
 * that the end of the stream cuts short is given as far as it came.
 *
 * @throws {EngineProtocolError} For a header that is none, and for a frame above 16 MiB.
 * @throws {EngineError} 500 when the engine reports a failure of its own in the stream.
 */
export function frames(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Frame> {
  return transformed(chunks, separated);
}

/** The stream of a terminal: everything is `stdout`, as it comes. */
export function rawFrames(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Frame> {
  return transformed(chunks, async function* (chunks) {
    for await (const bytes of chunks) yield { stream: "stdout", bytes };
  });
}

async function* separated(
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
        ({ kind, length: missing } = parsed(header));
        continue;
      }
      const taken = chunk.subarray(at, at + missing);
      at += taken.length;
      missing -= taken.length;
      parts.push(taken);
      if (missing > 0) continue;
      const bytes = joined(parts);
      parts = [];
      yield frame(kind, bytes);
    }
  }
  if (parts.length > 0) yield frame(kind, joined(parts));
}

function parsed(header: Uint8Array): { kind: number; length: number } {
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
  // 0 is what was typed; a terminal-less program's input is not echoed, but old engines mark
  // output so.
  return { stream: kind === 2 ? "stderr" : "stdout", bytes };
}

function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
