/** Starts rollbacks of stacks to the images before their last update. @module */

import type { Job } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { currentContainers } from "../../containers/reads.ts";
import { affectedBy, identityOf } from "../../containers/reserve.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { keptBy, prepareRestored } from "../data/restored.ts";
import type { StackRollback, StackUpdateResult } from "./job.ts";
import { assertNoObstacle } from "./prepare.ts";
import { findPrevious, requireData } from "./previous.ts";
import { stackRollbackKind } from "./stack_kind.ts";
import type { Actor } from "./start.ts";
import { updatedContainers } from "./start_stack.ts";
import { surveyUpdate } from "./survey.ts";

export interface StackRollbackRequest {
  name: string;
  /** Whether volumes get the data from before, too. */
  data: boolean;
  stableSeconds?: number | undefined;
  verifyTimeoutSeconds?: number | undefined;
  actor: Actor;
}

/**
 * Starts a job that goes back to the images before the last update of a stack, by the same steps, and
 * with `data` to the data from before.
 *
 * @param options.last The job of that update, which has succeeded.
 * @param options.assertLast Fails if the stack has been changed since.
 * @throws {AppError} As `startStackUpdate()`; `conflict` for images or data that are not kept.
 */
export async function startStackRollback(
  deps: Deps,
  { name, data, stableSeconds, verifyTimeoutSeconds, actor }: StackRollbackRequest,
  { last, assertLast }: { last: Job; assertLast(): void },
): Promise<JobView> {
  if (data) assertDataReturns(last);
  const all = await currentContainers(deps);
  const changed = changedBy(last);
  const containers = (await updatedContainers(deps, name, actor.scope))
    .filter((each) => changed.includes(each.name));
  const missing = changed.filter((each) => !containers.some((found) => found.name === each));
  if (missing.length > 0) {
    const names = missing.join(", ");
    throw new AppError("conflict", `${names} was renamed or removed since the update of ${name}`);
  }
  const previous: StackRollback[] = [];
  for (const each of containers) previous.push(await previousOf(deps, each, last, data));
  assertLast();
  return startJob(deps, stackRollbackKind, {
    target: name,
    input: {
      containers: previous.map(({ container }) => container),
      affected: containers.flatMap((each) => [identityOf(each), ...affectedBy(each, all)]),
      atomic: true,
      pull: "never",
      stableSeconds: stableSeconds ?? null,
      verifyTimeoutSeconds: verifyTimeoutSeconds ?? null,
      force: false,
      previous,
    },
    caller: actor,
  }).job;
}

/** Names of the containers whose image a job has changed. */
export const changedBy = ({ result }: Job): string[] =>
  (result as StackUpdateResult).results
    .flatMap(({ container, updated, isSameImage }) => updated && !isSameImage ? [container] : []);

/** @throws {AppError} `conflict` for data of a container that has no other image to go back to. */
function assertDataReturns({ result }: Job): void {
  for (const { container, isSameImage, data } of (result as StackUpdateResult).results) {
    if (!isSameImage || !data) continue;
    throw new AppError(
      "conflict",
      `${container} was recreated from the same image, and a rollback does not bring its data back; ` +
        `roll back without data, and restore snapshot ${data.before.slice(0, 8)} at ${data.target}`,
    );
  }
}

/** @throws {AppError} `conflict` if it cannot go back. */
async function previousOf(
  deps: Deps,
  { name, id }: Container,
  last: Job,
  isRestored: boolean,
): Promise<StackRollback> {
  const found = await findPrevious(deps, name);
  if (!found) throw new AppError("conflict", `No previous image of ${name} is kept`);
  if (found.createdAt > last.endedAt!) {
    throw new AppError("conflict", `${name} was updated since by itself; roll it back first`);
  }
  // `findPrevious()` passes images that are gone.
  if (found.createdAt < last.startedAt!) {
    throw new AppError("conflict", `The image of ${name} before its last update was removed`);
  }
  const { imageId, reference } = found;
  const survey = await surveyUpdate(deps, id, { image: reference });
  assertNoObstacle(survey.obstacles, false);
  const kept = keptBy(deps, survey);
  const needsData = isRestored && kept.group.volumes.length > 0;
  const restored = needsData
    ? await prepareRestored(deps, kept, requireData(deps, name, found))
    : undefined;
  return { container: name, imageId, reference, data: restored?.restored ?? null };
}
