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

/**
 * The command line that runs the program with `args`, in any directory. With the license keys of the
 * tests in `env` that is always the sources: an executable accepts only the keys in it.
 */
export function programCommand(
  args: readonly string[],
  env: Record<string, string> = {},
): [path: string, ...args: string[]] {
  if (EXECUTABLE !== undefined && !("LICENSE_KEYS_FILE" in env)) return [EXECUTABLE, ...args];
  return [Deno.execPath(), "run", "--frozen", ...RUN_FLAGS, MAIN, ...args];
}

/** Environment that the runtime needs; nothing else of it may configure the service. */
export function runtimeEnvironment(): Record<string, string> {
  const needed =
    /^(PATH|HOME|TMPDIR|LANG|XDG_CACHE_HOME|LONGSHORE_RUNTIME_DIR|(DENO|NPM_CONFIG)_.*)$/i;
  return Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => needed.test(name)),
  );
}
