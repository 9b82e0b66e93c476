/**
 * Removes what trials have left whose job could not, as soon as the engine responds.
 *
 * @module
 */

import { EngineUnreachableError } from "../../../engine/errors.ts";
import { rounds, type Worker } from "../../lifecycle.ts";
import { removeLeftTrials } from "./parts.ts";

const ROUND_MS = 60 * 60_000;

export const trialSweeper: Worker = {
  name: "trial sweeper",
  edition: "ce",
  run: rounds(ROUND_MS, async (deps) => {
    try {
      await removeLeftTrials(deps);
    } catch (error) {
      if (!(error instanceof EngineUnreachableError)) throw error;
    }
  }),
};
