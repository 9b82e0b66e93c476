/** Streams of JSON objects: events, pulls, statistics. @module */

import { EngineProtocolError } from "./errors.ts";
import { transform } from "./transform.ts";

/** Maximum size of one object in bytes. */
const OBJECT_MAX = 1024 * 1024;

/** Number of characters of a larger object that are shown. */
const HEAD_MAX = 4_096;
const TAIL_MAX = 256;

const decoder = new TextDecoder();

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
/** Starts each object of `application/json-seq` (RFC 7464). */
const RECORD_SEPARATOR = 0x1e;

/**
 * Reads the objects of a stream, with or without separators between them (most engines send
 * newlines, some none).
 *
 * @param options.ofOversized Returns what replaces an object above 1 MiB, of which it gets the
 * beginning (4 KiB) and the end (at most 256 bytes); `undefined` skips it. By default such an object is
 * an error.
 * @param options.onChunk Called after each chunk, with whether an object is incomplete.
 * @throws {EngineProtocolError} For text that is not a JSON object, for an object above 1 MiB, and
 * for an object that the end of the stream truncates.
 */
export function jsonLines<T>(
  chunks: AsyncIterable<Uint8Array>,
  { ofOversized, onChunk }: {
    ofOversized?: ((head: string, tail: string) => T | undefined) | undefined;
    onChunk?: ((isIncomplete: boolean) => void) | undefined;
  } = {},
): AsyncIterableIterator<T> {
  return transform(chunks, (chunks) => parseObjects<T>(chunks, ofOversized, onChunk));
}

async function* parseObjects<T>(
  chunks: AsyncIterable<Uint8Array>,
  replace: ((head: string, tail: string) => T | undefined) | undefined,
  onChunk: (isIncomplete: boolean) => void = () => {},
): AsyncGenerator<T, void, undefined> {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let parts: Uint8Array[] = [];
  let length = 0;
  /** Of an object that is too large. */
  let head = "";
  const grow = (part: Uint8Array) => {
    const wasOversized = length > OBJECT_MAX;
    length += part.length;
    if (wasOversized || length <= OBJECT_MAX) return;
    if (!replace) throw tooLarge();
    head = headOf([...parts, part]);
    parts = [];
  };

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
        if (!isSeparator(byte)) throw malformed();
      } else if (byte === QUOTE) {
        inText = true;
      } else if ((byte === CLOSE || byte === CLOSE_ARRAY) && --depth === 0) {
        const end = chunk.subarray(start, at + 1);
        grow(end);
        const complete = length <= OBJECT_MAX
          ? parseObject<T>(parts, end)
          : replace?.(head, decoder.decode(end.subarray(-TAIL_MAX)));
        parts = [];
        length = 0;
        if (complete !== undefined) yield complete;
      }
    }
    if (depth > 0) {
      const rest = chunk.subarray(start);
      grow(rest);
      if (length <= OBJECT_MAX) parts.push(rest);
    }
    onChunk(depth > 0);
  }
  if (depth > 0) throw malformed();
}

function headOf(parts: Uint8Array[]): string {
  const decoder = new TextDecoder();
  let text = "";
  for (const part of parts) {
    if (text.length >= HEAD_MAX) break;
    text += decoder.decode(part.subarray(0, HEAD_MAX), { stream: true });
  }
  return text.slice(0, HEAD_MAX);
}

const isSeparator = (byte: number) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === RECORD_SEPARATOR;

function parseObject<T>(parts: Uint8Array[], end: Uint8Array): T {
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
