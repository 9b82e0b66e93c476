/**
 * `longshore help`
 *
 * @module
 */

import { EXIT, type Program } from "./program.ts";

export function help(
  { print }: Program,
  commands: Readonly<Record<string, { summary: string }>>,
): number {
  print("Longshore manages and watches the container engine of this host.\n");
  print("Usage: longshore [--env-file FILE] [COMMAND]\n");
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  for (const [name, { summary }] of Object.entries(commands)) {
    print(`  ${name.padEnd(width)}  ${summary}`);
  }
  print("\nEverything is set by environment variables; `longshore config` lists them.");
  print("Exit status: 0 success, 1 failure, 2 wrong usage.");
  return EXIT.ok;
}
