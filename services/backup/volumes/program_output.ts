/** Output and end of programs in containers, which may be hostile: everything has limits. @module */

import type { ExecConnection } from "../../../engine/exec.ts";
import { AppError } from "../../errors.ts";

/** End of a script. */
export interface ProgramEnd {
  exitCode: number;
  /** The first part of its standard error. */
  errors: string;
}

/** Read part of the standard error, in bytes. */
const ERRORS_MAX = 4096;

/** Bytes of it that are read and dropped, so that the program can finish. */
const EXCESS_MAX = 16 * 1024 * 1024;

/** Longest reason in a message, in characters. */
const REASON_MAX = 300;

/**
 * Passes on the standard output of a program while it gets its input.
 *
 * @returns The first part of its standard error.
 */
export async function* streamOutput(
  connection: ExecConnection,
  input: ReadableStream<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array, string> {
  const reader = input?.getReader();
  let failure: unknown;
  const sent = reader && send(reader, connection).catch((error) => failure = error);
  try {
    let errors = "";
    let size = 0;
    const decoder = new TextDecoder();
    for await (const { stream, bytes } of connection.frames) {
      if (stream === "stdout") {
        yield bytes;
        continue;
      }
      if (errors.length < ERRORS_MAX) errors += decoder.decode(bytes, { stream: true });
      size += bytes.length;
      if (size > EXCESS_MAX) {
        throw new AppError("conflict", "The program writes errors without end");
      }
    }
    // A program that has ended reads no more.
    connection.close();
    void reader?.cancel().catch(() => {});
    await sent;
    if (failure !== undefined) throw failure;
    return errors.slice(0, ERRORS_MAX);
  } finally {
    void reader?.cancel().catch(() => {});
  }
}

/** The end of the input is sent in any case: the program finds out whether it is complete. */
async function send(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  connection: ExecConnection,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const isSent = await connection.write(value).then(() => true, () => false);
      // The program has ended, and its exit code says why.
      if (!isSent) return;
    }
  } finally {
    await connection.closeWrite().catch(() => {});
  }
}

/** The error of a script that failed, with the first line of what it wrote. */
export function programError(what: string, { exitCode, errors }: ProgramEnd): AppError {
  const [line = ""] = errors.trim().split("\n");
  const reason = line === "" ? `the program exited with ${exitCode}` : shorten(line);
  return new AppError("conflict", `${what}: ${reason}`);
}

const shorten = (line: string) => line.slice(0, REASON_MAX).replace(/\p{C}/gu, "\ufffd");
