/** The worker that checks images periodically, if that is enabled. @module */

import { selectUnfinishedJobOf } from "../../../db/jobs.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { rounds, type Worker } from "../../lifecycle.ts";
import { readUpdateSettings } from "../settings.ts";
import { CHECK_TARGET } from "./target.ts";

/** Maximum delay of a check, in milliseconds. */
const ROUND_MS = 30_000;

export const updateChecker: Worker = {
  name: "update checker",
  edition: "ce",
  run: rounds(ROUND_MS, checkDueImages),
};

/** Checks the images that are due, unless a user has just started a check. */
export async function checkDueImages(deps: Deps, signal?: AbortSignal): Promise<void> {
  if (!readUpdateSettings(deps).enabled || selectUnfinishedJobOf(deps.db, CHECK_TARGET)) return;
  // Loaded on first use, because checks are off by default.
  const { dueImages } = await import("./due.ts");
  const images = await dueImages(deps);
  if (images.length === 0) return;
  const { checkImages } = await import("./round.ts");
  try {
    await checkImages(deps, images, { signal });
  } catch (error) {
    // A lost engine is reported elsewhere, and its containers are checked later.
    if (!signal?.aborted && !(error instanceof EngineUnreachableError)) throw error;
  }
}
