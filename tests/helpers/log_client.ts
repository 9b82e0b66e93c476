/** A client of log streams. @module */

import { sseBlocks } from "./sse_blocks.ts";
import type { CallOptions, TestApp } from "./test_app.ts";

/** A line as the service sends it. */
export interface StreamedLine {
  container: string;
  containerId: string;
  stream: "stdout" | "stderr";
  timestamp: string;
  message: string;
  level: string | null;
  truncated?: true;
}

export interface LogStreamFrame {
  type: string;
  id: string;
  /** Lines of a `log` frame. */
  lines: StreamedLine[];
  // deno-lint-ignore no-explicit-any
  data: any;
}

export interface LogClient {
  /** Id of the last frame. */
  readonly lastId: string;
  /** Waits for the next frame; `undefined` at the end of the stream. */
  next(): Promise<LogStreamFrame | undefined>;
  /** Waits for this number of lines, or fewer if the stream ends. Fails on other frames. */
  lines(count: number): Promise<StreamedLine[]>;
  /** Reads to the end of the stream. */
  rest(): Promise<LogStreamFrame[]>;
  cancel(): Promise<void>;
}

/** Reads the frames of a log stream. */
export function logClient(body: ReadableStream<Uint8Array>): LogClient {
  const blocks = sseBlocks(body);
  let lastId = "";
  let left: StreamedLine[] = [];

  const client: LogClient = {
    get lastId() {
      return lastId;
    },
    async next() {
      for (;;) {
        const fields = await blocks.next();
        if (!fields) return undefined;
        lastId = fields.get("id") ?? lastId;
        const type = fields.get("event");
        if (type === undefined) continue;
        const data = JSON.parse(fields.get("data") ?? "null");
        return { type, id: lastId, lines: type === "log" ? [data].flat() : [], data };
      }
    },
    async lines(count) {
      while (left.length < count) {
        const frame = await client.next();
        if (!frame) break;
        if (frame.type !== "log") throw new Error(`${frame.type}: ${JSON.stringify(frame.data)}`);
        left.push(...frame.lines);
      }
      const taken = left.slice(0, count);
      left = left.slice(count);
      return taken;
    },
    async rest() {
      const frames: LogStreamFrame[] = [];
      for (let frame = await client.next(); frame; frame = await client.next()) frames.push(frame);
      return frames;
    },
    cancel: blocks.cancel,
  };
  return client;
}

/** Opens a log stream of an application in a test. */
export async function openLogStream(
  app: Pick<TestApp, "fetch">,
  path: string,
  { lastId, role = "viewer", scope }: Pick<CallOptions, "scope"> & {
    lastId?: string;
    role?: "viewer" | "admin";
  } = {},
): Promise<LogClient> {
  const response = await app.fetch("GET", path, undefined, {
    role,
    ...(scope && { scope }),
    headers: lastId === undefined ? {} : { "last-event-id": lastId },
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return logClient(response.body!);
}
