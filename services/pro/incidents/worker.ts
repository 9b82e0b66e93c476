/**
 * Resolves incidents whose cause has ended, and deletes old ones.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { every } from "../../lifecycle.ts";
import { resolveOrphanedIncidents } from "./automatic.ts";
import { sweepIncidents } from "./incidents.ts";

const ROUND_MS = 60_000;

export async function reconcileIncidents(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  for await (const _ of every(ROUND_MS, signal)) {
    resolveOrphanedIncidents(deps);
    sweepIncidents(deps);
    round();
  }
}
