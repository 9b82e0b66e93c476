import { deepEqual, equal, rejects } from "node:assert/strict";
import { EngineError, EngineProtocolError } from "../../engine/errors.ts";
import { frames, rawFrames } from "../../engine/frames.ts";
import { outputFrame } from "../helpers/fake_engine.ts";
import { frameLines } from "../helpers/frames.ts";

function joined(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

async function* chunksOf(...chunks: Uint8Array[]) {
  yield* chunks;
}

const wire = joined(
  outputFrame("stdout", "one\n"),
  outputFrame("stderr", ""),
  outputFrame("stderr", "two é\n"),
  outputFrame("stdout", "three"),
);
const expected = ["stdout one\n", "stderr two é\n", "stdout three"];

Deno.test("frames() finds the frames when the stream is split into any three parts", async () => {
  for (let first = 0; first <= wire.length; first++) {
    for (let second = first; second <= wire.length; second++) {
      const parts = chunksOf(
        wire.slice(0, first),
        wire.slice(first, second),
        wire.slice(second),
      );
      deepEqual(await frameLines(frames(parts)), expected);
    }
  }
});

Deno.test("frames() finds the frames in single bytes", async () => {
  deepEqual(
    await frameLines(frames(chunksOf(...[...wire].map((byte) => Uint8Array.of(byte))))),
    expected,
  );
});

Deno.test("frames() yields the received part of a truncated last frame", async () => {
  deepEqual(await frameLines(frames(chunksOf(wire.slice(0, -2)))), [
    ...expected.slice(0, 2),
    "stdout thr",
  ]);
});

Deno.test("frames() accepts a frame of 16 MiB and refuses a larger one", async () => {
  const largest = outputFrame("stdout", "x".repeat(16 * 1024 * 1024));
  for await (const { bytes } of frames(chunksOf(largest))) equal(bytes.length, 16 * 1024 * 1024);
  await rejects(
    frameLines(frames(chunksOf(Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 1)))),
    EngineProtocolError,
  );
  await rejects(
    frameLines(frames(chunksOf(Uint8Array.of(1, 0, 0, 0, 255, 255, 255, 255)))),
    EngineProtocolError,
  );
});

Deno.test("frames() refuses the output of a terminal, which has no frames", async () => {
  await rejects(
    frameLines(frames(chunksOf(new TextEncoder().encode("hello, world")))),
    EngineProtocolError,
  );
});

Deno.test("frames() throws the failure that the engine reports in the stream", async () => {
  const failure = outputFrame("stdout", "disk on fire");
  failure[0] = 3;
  await rejects(frameLines(frames(chunksOf(failure))), new EngineError(500, "disk on fire"));
});

Deno.test("frames() releases its source, even if it was never read", async () => {
  let isHeld = true;
  const source = {
    next: () => Promise.resolve({ done: false, value: outputFrame("stdout", "x") } as const),
    return() {
      isHeld = false;
      return Promise.resolve({ done: true, value: undefined } as const);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  await frames(source)[Symbol.asyncIterator]().return!();
  equal(isHeld, false);

  isHeld = true;
  for await (const _ of rawFrames(source)) break;
  equal(isHeld, false);
});

Deno.test("rawFrames() treats everything as standard output", async () => {
  const chunks = ["a", "b"].map((text) => new TextEncoder().encode(text));
  deepEqual(await frameLines(rawFrames(chunksOf(...chunks))), ["stdout a", "stdout b"]);
});
