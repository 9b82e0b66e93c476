/** Output frames of a container or command, as text. @module */

import type { Frame } from "../../engine/frames.ts";

/** Reads frames to their end. */
export async function frameTexts(
  frames: AsyncIterable<Frame>,
): Promise<{ stdout: string; stderr: string }> {
  const texts = { stdout: "", stderr: "" };
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  for await (const { stream, bytes } of frames) {
    texts[stream] += decoders[stream].decode(bytes, { stream: true });
  }
  return texts;
}

/** Each frame as text, e.g. `stdout hello`. */
export async function frameLines(frames: AsyncIterable<Frame>): Promise<string[]> {
  const all = [];
  for await (const { stream, bytes } of frames) {
    all.push(`${stream} ${new TextDecoder().decode(bytes)}`);
  }
  return all;
}
