/**
 * Hanging up: engines let a program run when its client disconnects, so that each closed terminal
 * would leave a shell behind.
 *
 * @module
 */

import type { TerminalShell } from "../../../db/terminal_shells.ts";
import { execCreate, execStart } from "../../../engine/exec.ts";
import type { Deps } from "../../deps.ts";

/** Identifies the processes of a terminal, in their environment. */
const VARIABLE = "LONGSHORE_TERMINAL";

/** Time limit, in milliseconds. */
const HANG_UP_MS = 5_000;

/**
 * Sends SIGHUP to the leader of the terminal's session. When it exits, the kernel sends SIGHUP to the
 * program in the foreground as well. Field 6 of `stat` is the session; the second one, the name, can
 * contain blanks and parentheses.
 */
const SCRIPT = `for environ in /proc/[0-9]*/environ; do
  grep -q "${VARIABLE}=$0" "$environ" || continue
  directory=\${environ%/environ}
  read -r stat < "$directory/stat" || continue
  set -- \${stat##*) }
  [ "$4" = "\${directory#/proc/}" ] && kill -HUP "$4"
done 2> /dev/null`;

/** The environment entry by which `hangUp()` finds the processes of a terminal. */
export const hangUpVariable = (mark: string): string => `${VARIABLE}=${mark}`;

/**
 * Ends the shell of a terminal as a lost connection does. Needs `sh` and `grep` in the container.
 *
 * @param shell With the user of the terminal: another one, even root, may not read the environment of
 * its processes.
 * @throws {EngineError}
 */
export async function hangUp(
  engine: Deps["engine"],
  { mark, containerId, user }: Pick<TerminalShell, "mark" | "containerId" | "user">,
): Promise<void> {
  const signal = AbortSignal.timeout(HANG_UP_MS);
  const { id } = await execCreate(engine, containerId, {
    cmd: ["sh", "-c", SCRIPT, mark],
    user: user ?? undefined,
    signal,
  });
  using connection = await execStart(engine, id, { signal });
  for await (const _ of connection.frames);
}
