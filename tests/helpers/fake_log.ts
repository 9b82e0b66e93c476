/** The log of a container, for a fake engine. @module */

import type { FakeAnswer } from "./fake_engine.ts";

export interface FakeLog {
  /** Adds a line. */
  write(message: string, options?: { stream?: "stdout" | "stderr"; time?: string }): void;
  /** Removes the oldest lines, as the rotation of log files does. */
  rotate(keep: number): void;
  /** Sends the last lines again to clients that follow, as Docker 20.10 does after a rotation. */
  repeat(count: number): void;
  /** Sends no more lines to the clients that follow now. */
  hang(): void;
  /** Ends the streams of clients that follow, as a stop of the container does. */
  stop(): void;
  /** Number of connections that follow. */
  readonly followers: number;
  /** Answers requests for the log. Connections that follow always get timestamps. */
  answer: FakeAnswer;
}

interface Entry {
  seconds: string;
  /** With and without the timestamp. */
  stamped: Uint8Array<ArrayBuffer>;
  plain: Uint8Array<ArrayBuffer>;
}

/** @param startAt Time of the first line; each line is a microsecond later. */
export function fakeLog(startAt = "2026-01-01T00:00:00Z"): FakeLog {
  let entries: Entry[] = [];
  let micros = 0;
  const following = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const startSeconds = Date.parse(startAt) / 1000;

  return {
    write(message, { stream = "stdout", time } = {}) {
      const at = micros++;
      const seconds = startSeconds + Math.floor(at / 1_000_000);
      const fraction = `${String(at % 1_000_000).padStart(6, "0")}000`;
      const stamp = time ??
        `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
      const entry = {
        seconds: unixSeconds(stamp),
        stamped: frameOf(stream, `${stamp} ${message}\n`),
        plain: frameOf(stream, `${message}\n`),
      };
      entries.push(entry);
      for (const controller of following) controller.enqueue(entry.stamped);
    },
    rotate(keep) {
      entries = entries.slice(-keep);
    },
    repeat(count) {
      for (const { stamped } of entries.slice(-count)) {
        for (const controller of following) controller.enqueue(stamped);
      }
    },
    hang: () => following.clear(),
    stop() {
      for (const controller of following) controller.close();
      following.clear();
    },
    get followers() {
      return following.size;
    },
    answer({ query, signal }) {
      const tail = query.get("tail");
      const since = query.get("since");
      const last = tail === null || tail === "all"
        ? entries
        : Number(tail) === 0
        ? []
        : entries.slice(-Number(tail));
      // Texts of the same length, so that they compare like numbers.
      const selected = last.filter(({ seconds }) => since === null || seconds >= since);
      const follows = ["1", "true"].includes(query.get("follow") ?? "");
      let controller: ReadableStreamDefaultController<Uint8Array>;
      return new Response(
        new ReadableStream<Uint8Array<ArrayBuffer>>({
          start(started) {
            controller = started;
            for (const { stamped, plain } of selected) {
              controller.enqueue(query.get("timestamps") === "true" ? stamped : plain);
            }
            if (!follows) return controller.close();
            following.add(controller);
            signal.addEventListener("abort", () => following.delete(controller));
          },
          cancel: () => void following.delete(controller),
        }),
      );
    },
  };
}

function unixSeconds(stamp: string): string {
  return `${Date.parse(stamp.slice(0, 19) + "Z") / 1000}.${stamp.slice(20, 29)}`;
}

/** A frame of the engine's multiplexed stream. */
function frameOf(stream: "stdout" | "stderr", text: string): Uint8Array<ArrayBuffer> {
  const payload = new TextEncoder().encode(text);
  const frame = new Uint8Array(8 + payload.length);
  frame[0] = stream === "stderr" ? 2 : 1;
  new DataView(frame.buffer).setUint32(4, payload.length);
  frame.set(payload, 8);
  return frame;
}
