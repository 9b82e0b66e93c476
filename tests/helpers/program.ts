/**
 * The program under test: the sources with the flags of the task `start`, or the executable that
 * `LONGSHORE_EXECUTABLE` names.
 *
 * @module
 */

import { RUN_FLAGS } from "../../deploy/build/run_flags.ts";

/** Path of the executable under test; `undefined` to run the sources. */
export const EXECUTABLE = Deno.env.get("LONGSHORE_EXECUTABLE") || undefined;

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** The command line that runs the program with `args`, in any directory. */
export function programCommand(args: readonly string[]): [path: string, ...args: string[]] {
  if (EXECUTABLE !== undefined) return [EXECUTABLE, ...args];
  return [Deno.execPath(), "run", "--frozen", ...RUN_FLAGS, MAIN, ...args];
}

/** What the runtime needs of the environment; nothing else of it may configure the service. */
export function runtimeEnvironment(): Record<string, string> {
  const needed =
    /^(PATH|HOME|TMPDIR|LANG|XDG_CACHE_HOME|LONGSHORE_RUNTIME_DIR|(DENO|NPM_CONFIG)_.*)$/i;
  return Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => needed.test(name)),
  );
}

/**
 * A test that needs the sources, e.g. because the executable ignores `LICENSE_KEYS_FILE`. It is
 * skipped when an executable is tested.
 */
export function sourceTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, fn, ignore: EXECUTABLE !== undefined });
}
