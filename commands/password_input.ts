/**
 * Reads a password: typed on a terminal without echo, or the first line of standard input. Never from
 * the arguments, which every process of the host can read.
 *
 * @module
 */

import { makePassword } from "../services/access/passwords/passwords.ts";
import { abortable } from "../services/deadline.ts";
import { CommandError, type Program } from "./program.ts";

/** Longer than any accepted password. */
const LINE_BYTES_MAX = 4_096;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BACKSPACE = 0x08;
const DELETE = 0x7f;
const CTRL_C = 0x03;
const CTRL_D = 0x04;
const CTRL_U = 0x15;

type Input = Pick<Program, "input" | "signal">;

/** A new password: created for `--generate`, else read from the terminal or the input. */
export async function newPassword(
  program: Input,
  generate: true | undefined,
): Promise<{ password: string; made: boolean }> {
  return generate
    ? { password: makePassword(), made: true }
    : { password: await readNewPassword(program), made: false };
}

export function printMade({ print, note }: Pick<Program, "print" | "note">, made: string): void {
  print(`Password: ${made}`);
  note("Save it now. It is not shown again.");
}

/**
 * Reads a new password; on a terminal twice.
 *
 * @throws {CommandError} If there is none, if the two differ, or at an interrupt.
 */
export async function readNewPassword(program: Input): Promise<string> {
  const { input } = program;
  if (!input.isTerminal()) {
    const password = decode(await firstLine(input));
    if (password !== "") return password;
    throw new CommandError("No password: pass it on standard input, or use --generate");
  }
  const keys = readKeys(program);
  input.setRaw(true);
  try {
    const password = await readLine("New password: ", keys);
    if (password === "") throw new CommandError("No password was given");
    if (password !== await readLine("Repeat password: ", keys)) {
      throw new CommandError("The two passwords differ; nothing was changed");
    }
    return password;
  } finally {
    input.setRaw(false);
  }
}

/**
 * Reads a secret that exists, such as a token.
 *
 * @throws {CommandError} If there is none, or at an interrupt.
 */
export async function readSecret(name: string, program: Input): Promise<string> {
  const { input } = program;
  if (!input.isTerminal()) return given(decode(await firstLine(input)));
  input.setRaw(true);
  try {
    return given(await readLine(`${name}: `, readKeys(program)));
  } finally {
    input.setRaw(false);
  }
}

function given(secret: string): string {
  if (secret !== "") return secret;
  throw new CommandError("No secret was given");
}

async function firstLine(input: Program["input"]): Promise<Uint8Array> {
  const buffer = new Uint8Array(LINE_BYTES_MAX);
  let length = 0;
  while (length < buffer.length) {
    const read = await input.read(buffer.subarray(length));
    if (read === null) break;
    const end = buffer.subarray(0, length += read).indexOf(LINE_FEED);
    if (end >= 0) length = buffer[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    if (end >= 0) break;
  }
  return buffer.subarray(0, length);
}

/** Reads one line without echo, on a terminal in raw mode. */
async function readLine(prompt: string, keys: AsyncIterator<number>): Promise<string> {
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
  return decode(Uint8Array.from(line));
}

/** Yields the bytes of a terminal until `signal` aborts; pasted text comes many at a time. */
async function* readKeys({ input, signal }: Input): AsyncGenerator<number> {
  const buffer = new Uint8Array(LINE_BYTES_MAX);
  for (;;) {
    try {
      const read = await abortable(input.read(buffer), signal);
      if (read === null) return;
      yield* buffer.slice(0, read);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
}

/** Removes the last character with all its bytes: UTF-8 continuation bytes start with 10. */
function deleteCharacter(line: number[]): void {
  while (line.length > 0 && (line.pop()! & 0xc0) === 0x80);
}

/** @throws {CommandError} If the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError("The password is not UTF-8 text", { cause: error });
  }
}

function show(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}
