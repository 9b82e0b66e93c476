/**
 * The answer with a pack (`side-band-64k`), taken apart here: the Git library would copy the pack three times.
 *
 * @see https://git-scm.com/docs/gitprotocol-pack
 * @module
 */

import { failure } from "./http.ts";

const LENGTH_BYTES = 4;

/** First byte of a line with a part of the pack, and of one about the progress. */
const PACK = 1;
const PROGRESS = 2;

/** Limit of all other lines, in bytes: 1,000 commits that have no parents here take 53,000. */
const REST_BYTES_MAX = 1024 * 1024;

const decoder = new TextDecoder();

/**
 * Takes the pack out of an answer, by moving its parts to the front: the answer cannot be used afterwards.
 *
 * @returns The pack, which is empty if nothing is new, and the other lines.
 * @throws {AppError} `bad_gateway` for an answer that breaks off, or has too many other lines.
 */
export function takePack(answer: Uint8Array): { pack: Uint8Array; rest: Uint8Array[] } {
  const rest: Uint8Array[] = [];
  let filled = 0;
  let restBytes = 0;
  for (let at = 0; at < answer.length;) {
    const length = lengthAt(answer, at);
    const line = answer.subarray(at, at += Math.max(length, LENGTH_BYTES));
    if (line.length < length) throw cut();
    // Undefined at the end of a section.
    const band = line[LENGTH_BYTES];
    if (band === PROGRESS) continue;
    if (band === PACK) {
      const part = line.subarray(LENGTH_BYTES + 1);
      answer.set(part, filled);
      filled += part.length;
      continue;
    }
    restBytes += line.length;
    if (restBytes > REST_BYTES_MAX) throw failure("The server sent too many lines beside the pack");
    rest.push(line.slice());
  }
  return { pack: answer.subarray(0, filled), rest };
}

/** 0 to 2 for the end of a section. */
function lengthAt(answer: Uint8Array, at: number): number {
  const text = decoder.decode(answer.subarray(at, at + LENGTH_BYTES));
  const length = /^[0-9a-f]{4}$/i.test(text) ? Number.parseInt(text, 16) : NaN;
  if (!(length >= LENGTH_BYTES || length <= 2)) throw cut();
  return length;
}

const cut = () => failure("The server did not answer as a Git server does, or broke off");
