/**
 * Deletes old checks and outages.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { sweepOutages } from "./outages.ts";
import { sweepChecks } from "./checks.ts";

const ROUND_MS = 60 * 60 * 1000;

export const uptimeSweeper: Worker = {
  name: "uptime sweeper",
  edition: "pro",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      await sweepChecks(deps);
      sweepOutages(deps);
      round();
    }
  },
};
