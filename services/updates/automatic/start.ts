/** Starts automatic updates, and reports what stands in their way. @module */

import { selectJobs } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import type { JobView } from "../../jobs/view.ts";
import { dataChoice, groupOf, planUndo, updatedOf } from "../data/plan.ts";
import type { UpdateInput } from "../run/job.ts";
import { updateKind } from "../run/kind.ts";
import { readLatest } from "../run/latest.ts";
import { assertNoObstacle, describeObstacles } from "../run/prepare.ts";
import { type Actor, startRun } from "../run/start.ts";
import { rehearsalChoice } from "../rehearsal/choice.ts";
import { type Obstacle, surveyUpdate } from "../run/survey.ts";
import type { PendingUpdate } from "./pending.ts";

/**
 * Starts an update as a job. Obstacles end it before anything is pulled, so that the job and an event
 * report them.
 *
 * @returns `undefined` if these obstacles have already ended an update of the container to this image.
 * @throws {AppError} `conflict` for a tag that has changed since the last check, which finds its new
 * image the next time; otherwise as `startUpdate()`.
 */
export async function startAutomaticUpdate(
  deps: Deps,
  update: PendingUpdate,
  actor: Actor,
): Promise<JobView | undefined> {
  const { containerId, image, digest, verifyTimeoutSeconds } = update;
  const survey = await surveyUpdate(deps, containerId, { image, digest });
  const { obstacles } = await readLatest(deps, survey, { pull: "always", digest });
  assertNoObstacle(obstacles.filter(({ canForce }) => !canForce), false);
  const isUndone = dataChoice(deps, survey, undefined) === "undo";
  const undo = isUndone ? (await planUndo(deps, [groupOf(updatedOf(deps, survey))])).obstacles : [];
  obstacles.push(...undo);
  if (isReported(deps, update, [...survey.obstacles, ...obstacles])) return undefined;
  const request = { verifyTimeoutSeconds, actor };
  return (await startRun(deps, updateKind, { ...survey, obstacles: [] }, request, {
    previousImageId: null,
    pull: "always",
    force: false,
    expectedDigest: digest,
    // Its job ends with the obstacles.
    data: undo.length > 0 ? "keep" : undefined,
    rehearsal: await rehearsalChoice(deps, {}, [survey.container]),
    isAutomatic: true,
    obstacles,
  })).job;
}

function isReported(
  { db }: Pick<Deps, "db">,
  { containerId, name, digest }: PendingUpdate,
  obstacles: readonly Obstacle[],
): boolean {
  const [last] = selectJobs(db, { kind: [updateKind.id], target: name }, { limit: 1 });
  if (!last || obstacles.length === 0) return false;
  const input = last.input as UpdateInput;
  return input.containerId === containerId && input.expectedDigest === digest &&
    last.error === describeObstacles(obstacles);
}
