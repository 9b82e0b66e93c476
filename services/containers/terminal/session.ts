/**
 * Joins a WebSocket with the program of a terminal.
 *
 * Binary messages carry input and output. Text messages carry JSON: `{"resize":[cols,rows]}` from the
 * client, and a last `{"exit":code}` or `{"error":"sentence"}` from the service.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { abortable } from "../../deadline.ts";
import { asAppError, messageFor } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { errorFields } from "../../log.ts";
import { type Control, parseControl } from "./control.ts";
import type { TerminalProgram } from "./program.ts";

/** Limit of input that the program has not read, in bytes; also that of a message. */
const INPUT_MAX = 1024 * 1024;

/** Cost of a message beyond its bytes, so that many short ones are limited, too. */
const MESSAGE_COST = 256;

/** Output that the client has not read, in bytes, beyond which the engine is not read either. */
const OUTPUT_MAX = 256 * 1024;

/** Interval between checks whether the client has read the output, in milliseconds. */
const OUTPUT_POLL_MS = 10;

/** Number of these checks before the connection is closed nevertheless. */
const CLOSE_POLLS_MAX = 100;

/** Longest time in which a client may read nothing, in milliseconds. */
const STALL_MAX_MS = 60_000;

/** Status codes of the WebSocket protocol (RFC 6455, section 7.4.1). */
const CODE = {
  normal: 1000,
  goingAway: 1001,
  invalid: 1007,
  policy: 1008,
  tooBig: 1009,
  failure: 1011,
} as const;

interface TerminalStart {
  /** An accepted WebSocket that is not open yet. */
  socket: WebSocket;
  /** Starts the program or connects to it. */
  start: (signal: AbortSignal) => Promise<TerminalProgram>;
  /** Says why the caller may no longer use it; `undefined` if they may. */
  refusal: () => string | undefined;
  /** Records its start and its end. */
  record: (phase: "start" | "end", entry: TerminalEntry) => void | Promise<void>;
}

interface TerminalEntry {
  /** The command; at the end with the reason in parentheses. */
  command: string;
  outcome: "success" | "failure";
}

/** Reason for the end of a terminal. */
interface Ending {
  code: number;
  /** The last message; `undefined` if the client has disconnected. */
  message?: { exit: number } | { error: string };
  /** For the logs. */
  reason: string;
}

/**
 * Runs a terminal until the program exits, the client disconnects, or it is ended for another reason.
 * Never rejects.
 *
 * @throws {AppError} `unavailable`, synchronously, if too many are open.
 */
export function runTerminal(
  { config, log, now, terminals }: Pick<Deps, "config" | "log" | "now" | "terminals">,
  { socket, start, refusal, record }: TerminalStart,
): Promise<void> {
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  let program: TerminalProgram | undefined;
  let ending: Ending | undefined;
  let closing: Promise<void> | undefined;
  let lastInputMs = now().getTime();
  let unreadInput = 0;
  let lastWrite: Promise<void> = Promise.resolve();
  let early: Uint8Array[] | undefined = [];
  let size: Control["resize"] | undefined;
  let isResizing = false;
  let stalled: { sinceMs: number; bytes: number } | undefined;

  const remove = terminals.add({ check, stop: stopService });
  socket.binaryType = "arraybuffer";
  socket.onopen = () => opened.resolve();
  socket.onmessage = ({ data }) => receive(data);
  // Without an event `open`, the connection was lost during the handshake.
  socket.onclose = ({ code }) => end({ code, reason: "the client disconnected" });
  socket.onerror = () => end({ code: CODE.goingAway, reason: "the connection was lost" });
  const running = run();
  return running;

  async function run(): Promise<void> {
    let command = "";
    try {
      await abortable(opened.promise, stop.signal);
      program = await start(stop.signal);
      command = program.command;
      await record("start", { command, outcome: "success" });
      acceptInput(program);
      await forwardOutput(program);
      await endByExit(program);
    } catch (error) {
      if (!ending) endByFailure(error);
    }
    remove();
    await leave();
    await closing;
    await recordEnd(command, ending!);
  }

  /** A program that did not start has only an entry about its start. */
  async function recordEnd(command: string, { reason }: Ending): Promise<void> {
    try {
      await record(program ? "end" : "start", {
        command: `${command} (${reason})`.trim(),
        outcome: program ? "success" : "failure",
      });
    } catch (error) {
      log.error("terminal entry lost", errorFields(error));
    }
  }

  /** Sends the last message and closes both sides. Only the first call counts. */
  function end(given: Ending): void {
    if (ending) return;
    ending = given;
    if (socket.readyState === WebSocket.OPEN) {
      if (given.message) socket.send(JSON.stringify(given.message));
      closing = closeWhenSent(given.code);
    }
    stop.abort();
  }

  /**
   * The runtime forgets a close frame that waits for the output before it when another message of
   * the client arrives.
   */
  async function closeWhenSent(code: number): Promise<void> {
    for (let left = CLOSE_POLLS_MAX; socket.bufferedAmount > 0 && left > 0; left--) {
      await new Promise((resolve) => setTimeout(resolve, OUTPUT_POLL_MS));
    }
    socket.close(code);
  }

  function endByError(code: number, error: string): void {
    end({ code, message: { error }, reason: error });
  }

  function endByFailure(error: unknown): void {
    const code = asAppError(error)?.code === "conflict" ? CODE.policy : CODE.failure;
    endByError(code, messageFor(log, error, "terminal failed"));
  }

  async function endByExit({ exitCode }: TerminalProgram): Promise<void> {
    const exit = await exitCode();
    if (exit === null) endByError(CODE.failure, "The program ended with an unknown exit code");
    else end({ code: CODE.normal, message: { exit }, reason: `exit code ${exit}` });
  }

  /** Sends the output, and reads no more of it while the client does not read. */
  async function forwardOutput({ output }: TerminalProgram): Promise<void> {
    for await (const bytes of output) {
      if (ending) return;
      socket.send(bytes as Uint8Array<ArrayBuffer>);
      while (socket.bufferedAmount > OUTPUT_MAX && !ending) {
        await sleep(OUTPUT_POLL_MS, stop.signal);
      }
    }
  }

  function receive(data: unknown): void {
    if (ending) return;
    const refused = refusal();
    if (refused !== undefined) return endByError(CODE.policy, refused);
    lastInputMs = now().getTime();
    if (typeof data === "string") return receiveControl(data);
    const bytes = new Uint8Array(data as ArrayBuffer);
    if (bytes.length > INPUT_MAX) {
      return endByError(CODE.tooBig, `A message is limited to ${INPUT_MAX} bytes`);
    }
    unreadInput += bytes.length + MESSAGE_COST;
    if (unreadInput > INPUT_MAX + MESSAGE_COST) {
      return endByError(CODE.policy, "The program does not read its input; send less at a time");
    }
    if (early) early.push(bytes);
    else write(program!, bytes);
  }

  /** Passes on what arrived before the program was started and recorded, and then all input. */
  function acceptInput(to: TerminalProgram): void {
    for (const bytes of early ?? []) write(to, bytes);
    early = undefined;
    applySize();
  }

  /** Writes in order; the program may read slowly. */
  function write(to: TerminalProgram, bytes: Uint8Array): void {
    lastWrite = lastWrite.then(async () => {
      if (ending) return;
      await to.write(bytes);
      unreadInput -= bytes.length + MESSAGE_COST;
    }).catch((error) => {
      // A program that exits closes its input; the end of its output has the exit code.
      if (!ending) log.debug("terminal input failed", errorFields(error));
    });
  }

  function receiveControl(text: string): void {
    const control = parseControl(text);
    if ("error" in control) return endByError(CODE.invalid, control.error);
    size = control.resize;
    applySize();
  }

  /** Applies the last size; sizes that arrive meanwhile replace each other. */
  function applySize(): void {
    if (early || !program || !size || isResizing) return;
    const [cols, rows] = size;
    size = undefined;
    isResizing = true;
    program.resize({ cols, rows }).catch(() => {}).finally(() => {
      isResizing = false;
      if (!ending) applySize();
    });
  }

  function check(): void {
    const refused = refusal();
    if (refused !== undefined) return endByError(CODE.policy, refused);
    const at = now().getTime();
    const minutes = config.terminalIdleMinutes;
    if (at - lastInputMs >= minutes * 60_000) {
      return endByError(CODE.policy, `Closed after ${minutes} minutes without input`);
    }
    const bytes = socket.bufferedAmount;
    if (bytes === 0 || bytes !== stalled?.bytes) stalled = { sinceMs: at, bytes };
    if (bytes > 0 && at - stalled.sinceMs >= STALL_MAX_MS) {
      endByError(CODE.policy, "The client does not read the output");
    }
  }

  async function stopService(): Promise<void> {
    endByError(CODE.goingAway, "The service is stopping");
    await running;
  }

  async function leave(): Promise<void> {
    try {
      await program?.leave();
    } catch (error) {
      log.debug("terminal not hung up", errorFields(error));
    }
  }
}
