/** Runs a command, and turns failures into a message and an exit status. @module */

import { nodeUtil } from "../services/builtins.ts";
import { ConfigError, type Env, unknownVariables } from "../services/config/config.ts";
import { KeyFileError } from "../services/errors.ts";
import { commandHelp } from "./help.ts";
import { COMMANDS } from "./mod.ts";
import { CommandError, EXIT, type Program, UsageError } from "./program.ts";

/** Errors whose message is enough for the operator. */
const SENTENCES = [CommandError, ConfigError, KeyFileError];

/**
 * Runs the command in the program's arguments, which can also have `--env-file FILE`.
 *
 * @returns The exit status.
 */
export async function run({ args, env: given, ...process }: Program): Promise<number> {
  let helpArgs = "help";
  try {
    const { env, rest } = environment(args, given, process.note);
    const [name = "serve", ...commandArgs] = rest;
    const wanted = isHelp(name) ? "help" : name === "--version" ? "version" : name;
    const command = Object.hasOwn(COMMANDS, wanted) ? COMMANDS[wanted] : undefined;
    if (!command) throw new UsageError(`Unknown command ${name}`);
    if (wanted !== "help") helpArgs = `${wanted} --help`;
    const program: Program = { ...process, args: commandArgs, env };
    if (commandArgs.some(isHelp)) return commandHelp(program, wanted, command);
    return await command.run(program);
  } catch (error) {
    if (error instanceof UsageError) {
      process.note(`longshore: ${error.message}. See: longshore ${helpArgs}`);
      return EXIT.usage;
    }
    if (!SENTENCES.some((kind) => error instanceof kind)) throw error;
    process.note(`longshore: ${(error as Error).message}`);
    return EXIT.failure;
  }
}

const isHelp = (arg: string) => arg === "-h" || arg === "--help";

/** Returns the environment, with the variables of `--env-file FILE` as defaults. */
function environment(
  args: readonly string[],
  env: Env,
  note: Program["note"],
): { env: Env; rest: string[] } {
  const rest = [...args];
  const at = rest.findIndex((arg) => /^--env-file(=|$)/.test(arg));
  if (at < 0) return { env, rest };
  const [given = ""] = rest.splice(at, 1);
  const path = given.includes("=") ? given.slice(given.indexOf("=") + 1) : rest.splice(at, 1)[0];
  if (!path) throw new UsageError("--env-file needs a file");
  const { parseEnv } = nodeUtil();
  try {
    const defaults = parseEnv(Deno.readTextFileSync(path));
    for (const warning of unknownVariables(defaults)) {
      note(`longshore: warning: ${path}: ${warning}`);
    }
    return { env: { ...defaults, ...env }, rest };
  } catch (error) {
    throw new CommandError(`--env-file ${path} cannot be read: ${(error as Error).message}`);
  }
}
