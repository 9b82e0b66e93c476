/** The output of health checks in events and messages. @module */

import { withDeadline } from "../deadline.ts";
import { type ReadDeps, refreshContainer } from "./reads.ts";

/** Longest wait for the engine, in milliseconds; following events wait as well. */
const READ_MS = 2_000;

/** Longest output, in UTF-16 code units. */
const OUTPUT_MAX = 1_000;

// deno-lint-ignore no-control-regex
const TERMINAL_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g;

/** The output of a container's last health check; `null` if it has none, or after a timeout. */
export async function lastHealthOutput(deps: ReadDeps, id: string): Promise<string | null> {
  const reading = refreshContainer(deps, id).catch(() => undefined);
  const { now } = await withDeadline(reading, READ_MS) ?? {};
  const { output = "" } = now?.details.healthLog.at(-1) ?? {};
  return readable(output) || null;
}

/** Removes terminal sequences and control characters except line breaks, and limits the length. */
export function readable(output: string): string {
  const text = output.toWellFormed().replace(TERMINAL_SEQUENCES, "").replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n]/gu, "").trim();
  return text.length <= OUTPUT_MAX ? text : text.slice(0, OUTPUT_MAX - 3).toWellFormed() + "...";
}
