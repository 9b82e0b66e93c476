/**
 * Deletes old checks and outages.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { every } from "../../lifecycle.ts";
import { sweepOutages } from "./outages.ts";
import { sweepChecks } from "./checks.ts";

const ROUND_MS = 60 * 60 * 1000;

export async function sweepUptime(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  for await (const _ of every(ROUND_MS, signal)) {
    await sweepChecks(deps);
    sweepOutages(deps);
    round();
  }
}
