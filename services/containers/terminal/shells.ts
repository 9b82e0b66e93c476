/**
 * The shells of terminals. Each is recorded before it starts and until it has been hung up, because it
 * would survive a crash of this service.
 *
 * @module
 */

import {
  deleteTerminalShell,
  insertTerminalShell,
  selectTerminalShells,
  type TerminalShell,
} from "../../../db/terminal_shells.ts";
import { containerInspect } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { hangUp } from "./hang_up.ts";

type Shell = Omit<TerminalShell, "createdAt">;

type ShellDeps = Pick<Deps, "db" | "engine" | "terminals">;

/** Records a shell that is about to start. */
export function recordShell(
  { db, now, terminals }: Pick<Deps, "db" | "now" | "terminals">,
  shell: Shell,
): void {
  insertTerminalShell(db, { ...shell, createdAt: now().toISOString() });
  terminals.shells.add(shell.mark);
}

/**
 * Hangs a shell up if it is running. If that fails, {@linkcode endLeftShells} repeats it.
 *
 * @throws {EngineError}
 */
export async function endShell(
  { db, engine, terminals }: ShellDeps,
  shell: Shell,
  isRunning: () => Promise<boolean>,
): Promise<void> {
  try {
    if (await isRunning()) await hangUp(engine, shell);
    deleteTerminalShell(db, shell.mark);
  } finally {
    terminals.shells.delete(shell.mark);
  }
}

/** Hangs up the shells of an earlier process, and those that could not be hung up before. */
export async function endLeftShells(deps: ShellDeps & Pick<Deps, "log">): Promise<void> {
  const { db, engine, log, terminals } = deps;
  for (const shell of selectTerminalShells(db)) {
    if (terminals.shells.has(shell.mark)) continue;
    const { containerId } = shell;
    try {
      const container = await ifThere(containerInspect(engine, containerId));
      // No program can be started in it now.
      if (container?.State.Paused) continue;
      await endShell(deps, shell, () => Promise.resolve(container?.State.Running === true));
      log.info("shell of a lost terminal ended", { containerId });
    } catch (error) {
      log.debug("shell of a lost terminal not ended", { containerId, ...errorFields(error) });
    }
  }
}
