/** Runs one command of the program, in this process or in one of its own. @module */

import type { Program } from "../../commands/program.ts";
import { run } from "../../commands/run.ts";
import { programCommand, runtimeEnvironment } from "./program.ts";

export interface Outcome {
  /** Exit status. */
  code: number;
  stdout: string;
  stderr: string;
}

/** Limit for one command, in milliseconds. */
const RUN_MAX_MS = 120_000;

const root = new URL("../../", import.meta.url);

/** Runs `longshore ARGS` with nothing but `env` in its environment, and `stdin` as its input. */
export async function runCommand(
  args: readonly string[],
  { env = {}, stdin = "" }: { env?: Record<string, string>; stdin?: string } = {},
): Promise<Outcome> {
  const [path, ...rest] = programCommand(args, env);
  const child = new Deno.Command(path, {
    args: rest,
    cwd: root,
    clearEnv: true,
    env: { ...runtimeEnvironment(), ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const limit = setTimeout(() => child.kill("SIGKILL"), RUN_MAX_MS);
  const input = child.stdin.getWriter();
  // A command that does not read its input may end before all of it is written.
  const given = input.write(new TextEncoder().encode(stdin))
    .then(() => input.close())
    .catch(() => {});
  const { code, stdout, stderr } = await child.output();
  await given;
  clearTimeout(limit);
  return {
    code,
    stdout: new TextDecoder().decode(stdout),
    stderr: new TextDecoder().decode(stderr),
  };
}

/**
 * Runs `longshore ARGS` from its sources in this process, without the start of another one. What
 * needs a terminal, is ended by the system, makes files whose modes count, or must be the executable needs
 * `runCommand()`.
 */
export async function runHere(
  args: readonly string[],
  { env = {}, stdin = "", signal = new AbortController().signal }: {
    env?: Record<string, string>;
    stdin?: string;
    signal?: AbortSignal;
  } = {},
): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  const code = await run({
    args,
    env: { ...runtimeEnvironment(), ...env },
    surroundings: {
      hostname: Deno.hostname(),
      terminal: false,
      packed: false,
      readTextFile: (path) => Deno.readTextFileSync(path),
    },
    input: inputOf(stdin),
    print: (line) => stdout += `${line}\n`,
    note: (line) => stderr += `${line}\n`,
    signal,
  });
  return { code, stdout, stderr };
}

/** A standard input that is not a terminal. */
function inputOf(text: string): Program["input"] {
  let rest = new TextEncoder().encode(text);
  const read = (buffer: Uint8Array) => {
    const count = Math.min(rest.length, buffer.length);
    buffer.set(rest.subarray(0, count));
    rest = rest.subarray(count);
    return Promise.resolve(count || null);
  };
  return { read, isTerminal: () => false, setRaw: () => {} };
}

/** A temporary directory, removed when disposed. */
export function temporaryDirectory(): { path: string } & Disposable {
  const path = Deno.makeTempDirSync({ prefix: "longshore-command-" });
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

/** The content of every file below a directory, by path. */
export function contentOf(directory: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) Object.assign(found, contentOf(path, `${below}${name}/`));
    else found[below + name] = new TextDecoder("latin1").decode(Deno.readFileSync(path));
  }
  return found;
}
