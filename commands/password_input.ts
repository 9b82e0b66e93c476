/**
 * A password from whoever runs the command: typed on a terminal without being shown, or the first
 * line of standard input. Never from the arguments, which every process of the host can read.
 *
 * @module
 */

import { aborted } from "../services/lifecycle.ts";
import { CommandError } from "./program.ts";

/** More than any password that is accepted. */
const LINE_BYTES_MAX = 4_096;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BACKSPACE = 0x08;
const DELETE = 0x7f;
const CTRL_C = 0x03;
const CTRL_D = 0x04;
const CTRL_U = 0x15;

/**
 * Reads a new password; on a terminal twice.
 *
 * @throws {CommandError} When there is none, when the two differ, when it was interrupted.
 */
export async function readNewPassword(signal: AbortSignal): Promise<string> {
  if (!Deno.stdin.isTerminal()) {
    const password = decoded(await firstLine());
    if (password !== "") return password;
    throw new CommandError("No password: give it on standard input, or let --generate make one");
  }
  const keys = keysTyped(signal);
  Deno.stdin.setRaw(true);
  try {
    const password = await typed("New password: ", keys);
    if (password === "") throw new CommandError("No password was given");
    if (password !== await typed("The same again: ", keys)) {
      throw new CommandError("The two passwords differ; nothing was changed");
    }
    return password;
  } finally {
    Deno.stdin.setRaw(false);
  }
}

async function firstLine(): Promise<Uint8Array> {
  const buffer = new Uint8Array(LINE_BYTES_MAX);
  let length = 0;
  while (length < buffer.length) {
    const read = await Deno.stdin.read(buffer.subarray(length));
    if (read === null) break;
    const end = buffer.subarray(0, length += read).indexOf(LINE_FEED);
    if (end >= 0) length = buffer[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    if (end >= 0) break;
  }
  return buffer.subarray(0, length);
}

/** One line that is typed, and not shown, on a terminal in raw mode. */
async function typed(prompt: string, keys: AsyncIterator<number>): Promise<string> {
  show(prompt);
  const line: number[] = [];
  try {
    for (;;) {
      const { value: key, done } = await keys.next();
      if (done || key === CTRL_C) throw new CommandError("Interrupted; nothing was changed");
      if (key === LINE_FEED || key === CARRIAGE_RETURN || key === CTRL_D) break;
      if (key === CTRL_U) line.length = 0;
      else if (key === BACKSPACE || key === DELETE) deleteCharacter(line);
      else if (line.length < LINE_BYTES_MAX) line.push(key);
    }
  } finally {
    show("\r\n");
  }
  return decoded(Uint8Array.from(line));
}

/** The bytes that a terminal sends, until `signal` aborts; what is pasted comes many at a time. */
async function* keysTyped(signal: AbortSignal): AsyncGenerator<number> {
  const buffer = new Uint8Array(LINE_BYTES_MAX);
  for (;;) {
    const read = await Promise.race([Deno.stdin.read(buffer), aborted(signal)]);
    if (typeof read !== "number") return;
    yield* buffer.slice(0, read);
  }
}

/** Takes the last character away, all of its bytes: those after a UTF-8 head begin with 10. */
function deleteCharacter(line: number[]): void {
  while (line.length > 0 && (line.pop()! & 0xc0) === 0x80);
}

/** @throws {CommandError} For bytes that are no text. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError("The password is no UTF-8 text", { cause: error });
  }
}

function show(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}
