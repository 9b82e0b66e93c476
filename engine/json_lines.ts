/**
 * Streams of JSON objects: events, pulls, statistics.
 *
 * @module
 */

import { EngineProtocolError } from "./errors.ts";
import { transformed } from "./transform.ts";

/** Most bytes of one object. */
const OBJECT_MAX = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
/** Begins each object of `application/json-seq` (RFC 7464). */
const RECORD_SEPARATOR = 0x1e;

/**
 * The objects of a stream, one after the other, whether or not anything stands between them (the
 * engine writes newlines, some engines none).
 *
 * @throws {EngineProtocolError} For what is no JSON object, for an object above 1 MiB, and for one
 * that the end of the stream cuts short.
 */
export function jsonLines<T>(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<T> {
  return transformed(chunks, (chunks) => objects<T>(chunks));
}

async function* objects<T>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<T, void, undefined> {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let parts: Uint8Array[] = [];
  let length = 0;

  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inText = false;
        continue;
      }
      if (byte === OPEN || byte === OPEN_ARRAY) {
        if (depth++ === 0) start = at;
      } else if (depth === 0) {
        if (!isBetween(byte)) throw malformed();
      } else if (byte === QUOTE) {
        inText = true;
      } else if ((byte === CLOSE || byte === CLOSE_ARRAY) && --depth === 0) {
        const end = chunk.subarray(start, at + 1);
        if (length + end.length > OBJECT_MAX) throw tooLarge();
        const object = parsed<T>(parts, end);
        parts = [];
        length = 0;
        yield object;
      }
    }
    if (depth > 0) {
      const rest = chunk.subarray(start);
      parts.push(rest);
      length += rest.length;
      if (length > OBJECT_MAX) throw tooLarge();
    }
  }
  if (depth > 0) throw malformed();
}

const isBetween = (byte: number) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === RECORD_SEPARATOR;

function parsed<T>(parts: Uint8Array[], end: Uint8Array): T {
  const decoder = new TextDecoder();
  let text = "";
  for (const part of parts) text += decoder.decode(part, { stream: true });
  text += decoder.decode(end);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed(cause);
  }
}

const malformed = (cause?: unknown) =>
  new EngineProtocolError("The container engine sent a stream that is not JSON", { cause });

const tooLarge = () =>
  new EngineProtocolError(
    `The container engine sent an object of more than ${OBJECT_MAX} bytes in a stream`,
  );
