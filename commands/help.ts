/** `longshore help [COMMAND]` and `longshore COMMAND --help` @module */

import { EXIT, type Program, UsageError } from "./program.ts";

interface Described {
  summary: string;
  usage?: string;
}

/** @throws {UsageError} If the command is unknown. */
export function help(
  program: Pick<Program, "args" | "print">,
  commands: Readonly<Record<string, Described>>,
): number {
  const { args: [wanted, ...more], print } = program;
  if (more.length) throw new UsageError("help takes one command");
  if (wanted !== undefined) {
    const command = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
    if (!command) throw new UsageError(`Unknown command ${wanted}`);
    return commandHelp(program, wanted, command);
  }
  print("Longshore manages and watches the container engine of this host.\n");
  print("Usage: longshore [--env-file FILE] [COMMAND]\n");
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  for (const [name, { summary }] of Object.entries(commands)) {
    print(`  ${name.padEnd(width)}  ${summary}`);
  }
  print("\n`longshore COMMAND --help` shows details. Everything is set by environment variables;");
  print("`longshore config` lists them. Exit status: 0 success, 1 failure, 2 wrong usage.");
  return EXIT.ok;
}

export function commandHelp(
  { print }: Pick<Program, "print">,
  name: string,
  { summary, usage }: Described,
): number {
  print(`${summary}.\n\nUsage: ${usage ?? `longshore ${name}`}`);
  return EXIT.ok;
}
