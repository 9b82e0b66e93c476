/**
 * The program: reads its environment, runs a command, and turns failures into a message and an exit
 * status.
 *
 * @module
 */

import { commandHelp } from "./commands/help.ts";
import { COMMANDS } from "./commands/mod.ts";
import { CommandError, EXIT, type Program, UsageError } from "./commands/program.ts";
import { nodeUtil } from "./services/builtins.ts";
import { ConfigError, type Env, unknownVariables } from "./services/config/config.ts";
import { KeyFileError } from "./services/errors.ts";

/** Errors whose message is enough for the operator. */
const SENTENCES = [CommandError, ConfigError, KeyFileError];

/** Runs the command in the arguments and returns the exit status. */
async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  let helpArgs = "help";
  try {
    const { env, rest } = environment(args);
    const [name = "serve", ...commandArgs] = rest;
    const wanted = isHelp(name) ? "help" : name === "--version" ? "version" : name;
    const command = Object.hasOwn(COMMANDS, wanted) ? COMMANDS[wanted] : undefined;
    if (!command) throw new UsageError(`There is no command ${name}`);
    if (wanted !== "help") helpArgs = `${wanted} --help`;
    const program: Program = {
      args: commandArgs,
      env,
      surroundings: {
        hostname: Deno.hostname(),
        terminal: Deno.stderr.isTerminal(),
        // The executable runs a bundle, which is JavaScript.
        packed: !import.meta.url.endsWith(".ts"),
        readTextFile: (path) => Deno.readTextFileSync(path),
      },
      print: (line) => console.log(line),
      terminal: Deno.stdout.isTerminal() ? writeToTerminal : undefined,
      note: (line) => console.error(line),
      signal,
    };
    if (commandArgs.some(isHelp)) return commandHelp(program, wanted, command);
    return await command.run(program);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`longshore: ${error.message}. See: longshore ${helpArgs}`);
      return EXIT.usage;
    }
    if (!SENTENCES.some((kind) => error instanceof kind)) throw error;
    console.error(`longshore: ${(error as Error).message}`);
    return EXIT.failure;
  }
}

/** Unlike `console.log`, this fails when the terminal is gone. */
function writeToTerminal(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

const isHelp = (arg: string) => arg === "-h" || arg === "--help";

/** Returns the environment, with the variables of `--env-file FILE` as defaults. */
function environment(args: readonly string[]): { env: Env; rest: string[] } {
  const env = Deno.env.toObject();
  const rest = [...args];
  const at = rest.findIndex((arg) => /^--env-file(=|$)/.test(arg));
  if (at < 0) return { env, rest };
  const [given = ""] = rest.splice(at, 1);
  const path = given.includes("=") ? given.slice(given.indexOf("=") + 1) : rest.splice(at, 1)[0];
  if (!path) throw new UsageError("--env-file needs a file");
  const { parseEnv } = nodeUtil();
  try {
    const given = parseEnv(Deno.readTextFileSync(path));
    for (const warning of unknownVariables(given)) {
      console.error(`longshore: warning: ${path}: ${warning}`);
    }
    return { env: { ...given, ...env }, rest };
  } catch (error) {
    throw new CommandError(`--env-file ${path} cannot be read: ${(error as Error).message}`);
  }
}

if (import.meta.main) {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    // A second signal does not wait.
    Deno.addSignalListener(
      name,
      () => stop.signal.aborted ? Deno.exit(EXIT.failure) : stop.abort(),
    );
  }
  Deno.exit(await main(Deno.args, stop.signal));
}
