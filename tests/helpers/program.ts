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

/** Whether the test that is running needs the sources; tests of a file run one after another. */
let needsSource = false;

/** The command line that runs the program with `args`, in any directory. */
export function programCommand(args: readonly string[]): [path: string, ...args: string[]] {
  if (EXECUTABLE !== undefined && !needsSource) return [EXECUTABLE, ...args];
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
 * A test that runs the sources even when an executable is tested: it needs a license, and the
 * executable ignores `LICENSE_KEYS_FILE`, which has the keys of the tests' licenses.
 */
export function sourceTest(
  name: string,
  fn: () => Promise<void>,
  { ignore = false }: { ignore?: boolean } = {},
): void {
  Deno.test(name, { ignore }, async () => {
    needsSource = true;
    try {
      await fn();
    } finally {
      needsSource = false;
    }
  });
}
