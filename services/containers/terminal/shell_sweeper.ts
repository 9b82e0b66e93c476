/**
 * Ends the shells that a crash of this service left running, as soon as the engine responds.
 *
 * @module
 */

import { selectTerminalShells } from "../../../db/terminal_shells.ts";
import { rounds, type Worker } from "../../lifecycle.ts";

const ROUND_MS = 60_000;

export const shellSweeper: Worker = {
  name: "terminal shell sweeper",
  edition: "ce",
  run: rounds(ROUND_MS, async (deps) => {
    if (selectTerminalShells(deps.db).length === 0) return;
    const { endLeftShells } = await import("./shells.ts");
    await endLeftShells(deps);
  }),
};
