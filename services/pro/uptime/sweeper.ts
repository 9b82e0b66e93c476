/** Deletes old checks and outages. @module */

import { rounds } from "../../lifecycle.ts";
import { sweepOutages } from "./outages.ts";
import { sweepChecks } from "./checks.ts";

const ROUND_MS = 60 * 60 * 1000;

export const sweepUptime = rounds(ROUND_MS, async (deps) => {
  await sweepChecks(deps);
  sweepOutages(deps);
});
