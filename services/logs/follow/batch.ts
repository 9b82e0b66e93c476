/** Batches of log lines, which share one frame of a stream. @module */

import type { StreamChunk } from "../../stream/chunks.ts";
import type { LogLine } from "./line_reader.ts";

/** The container that lines belong to. */
export interface LogOrigin {
  id: string;
  name: string;
}

/** Up to 100 lines, and 48 KiB unless it is a single line. */
export interface Batch {
  origin: LogOrigin;
  lines: readonly LogLine[];
  /** The frame with all lines, without its id; encoded once for all readers. */
  frame(): StreamChunk;
}

const LINES_MAX = 100;
const CHARACTERS_MAX = 48 * 1024;

const encoder = new TextEncoder();

/** Encodes a frame without its id line. */
export function encodeLines(origin: LogOrigin, lines: readonly LogLine[]): StreamChunk {
  const start = `{"container":${
    JSON.stringify(origin.name)
  },"containerId":"${origin.id}","stream":"`;
  const objects = lines.map(({ position, timestamp, message, level, truncated }) =>
    `${start}${position.stream}","timestamp":"${timestamp}","message":${JSON.stringify(message)}` +
    `,"level":${level ? `"${level}"` : "null"}${truncated ? `,"truncated":true}` : "}"}`
  );
  const data = objects.length === 1 ? objects[0] : `[${objects.join()}]`;
  return encoder.encode(`event: log\ndata: ${data}\n\n`);
}

/** Collects lines to batches. */
interface Batcher {
  add(line: LogLine): void;
  /** Completes the current batch. */
  flush(): void;
}

export function createBatcher(origin: LogOrigin, complete: (batch: Batch) => void): Batcher {
  let lines: LogLine[] = [];
  let characters = 0;

  const flush = () => {
    if (lines.length === 0) return;
    const batched = lines;
    let frame: StreamChunk | undefined;
    lines = [];
    characters = 0;
    complete({ origin, lines: batched, frame: () => frame ??= encodeLines(origin, batched) });
  };
  return {
    add(line) {
      if (characters + line.message.length > CHARACTERS_MAX) flush();
      lines.push(line);
      characters += line.message.length;
      if (lines.length === LINES_MAX) flush();
    },
    flush,
  };
}
