/** The ends of an update: the old containers are removed, or put back. @module */

import {
  deleteBlockedUpdatesOf,
  EVERY_DIGEST,
  upsertBlockedUpdate,
} from "../../../db/updates/blocked.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import {
  bringBack,
  dataOf,
  type DataState,
  describeData,
  keptDataOf,
  removeCopy,
} from "../data/steps.ts";
import { dataRunOf } from "../data/update_run.ts";
import { keepCrashLines } from "../../containers/crash_lines.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { evidenceLines } from "./evidence.ts";
import { throwIfInterrupted } from "./interruption.ts";
import {
  type DataResult,
  type FailedUpdate,
  type Failure,
  messageOf,
  type Replaced,
  report,
  type UpdateJob,
  type UpdateResult,
} from "./job.ts";
import { inspectIfThere, type Pair } from "./members.ts";
import { restoreName } from "./prepare.ts";
import { recordPrevious, removePreviousTag } from "./previous.ts";
import { recordVerdict } from "./recorded_verdict.ts";
import { keepLiving, leaveStopped } from "./stuck.ts";
import { putOldBack, removeOldOnes, restartStopped } from "./swap.ts";

/** Removes the old containers and keeps their image for a rollback. */
export async function commit(
  deps: Deps,
  job: UpdateJob,
  { planned, pulled, pairs, verdict }: Replaced & {
    verdict: Pick<UpdateResult, "verdict" | "reason">;
  },
): Promise<UpdateResult> {
  const { name, reference } = job.input;
  const target = pairs[0]!;
  if (job.hasBegun("measure")) await restartAfterCrash(deps, pairs);
  // Before the old container and its times are gone.
  const downtimeMs = await job.step("measure", () => measureDowntime(deps, target));
  await job.step("commit", async () => {
    await removeOldOnes(deps, pairs);
    report(
      deps,
      job,
      "update.succeeded",
      { reason: verdict.reason, digest: pulled.digest },
      () => recordCommit(deps, job, { planned, pulled, verdict }),
    );
  });
  await removeCopy(deps, job);
  return {
    container: name,
    oldId: target.oldId,
    id: target.newId,
    image: reference,
    imageId: pulled.imageId,
    digest: pulled.digest,
    updated: true,
    ...planned.oldImageId === pulled.imageId && { isSameImage: true },
    ...verdict,
    downtimeMs,
    data: dataOf(job),
  };
}

/** An engine that crashed does not start all of its containers again. The verdict holds anyway. */
async function restartAfterCrash(deps: Deps, pairs: readonly Pair[]): Promise<void> {
  try {
    await restartStopped(deps, pairs, { tasksToo: false });
  } catch (error) {
    await throwIfInterrupted(deps, error);
    deps.log.warn("a container of an update did not start again", errorFields(error));
  }
}

function recordCommit(
  deps: Deps,
  job: UpdateJob,
  { planned, pulled, verdict: { verdict, reason } }: Pick<Replaced, "planned" | "pulled"> & {
    verdict: Pick<UpdateResult, "verdict" | "reason">;
  },
): void {
  const { name, previousImageId, isRebuild } = job.input;
  const { oldImageId, oldReference, oldDigests } = planned;
  // A rebuild says nothing about the image.
  if (!isRebuild) deleteBlockedUpdatesOf(deps.db, name);
  if (verdict === "success") recordVerdict(deps, job, { ...pulled, outcome: verdict, reason });
  if (oldImageId === pulled.imageId) return;
  if (previousImageId !== null) {
    block(deps, job, {
      digests: oldDigests,
      image: oldReference,
      reason: "Rolled back on request",
    });
  }
  recordPrevious(deps, {
    containerName: name,
    imageId: oldImageId,
    reference: oldReference,
    data: keptDataOf(job, planned.undone),
    currentId: pulled.imageId,
  });
}

/** From the engine's times, so that it is right after a crash. */
async function measureDowntime(
  deps: Deps,
  { oldId, newId, ran }: Pair,
): Promise<number | null> {
  try {
    const old = await inspectIfThere(deps.engine, oldId);
    const fresh = await inspectIfThere(deps.engine, newId);
    if (!ran || !old || !fresh) return null;
    return Math.max(0, Date.parse(fresh.State.StartedAt) - Date.parse(old.State.FinishedAt));
  } catch (error) {
    await throwIfInterrupted(deps, error);
    return null;
  }
}

/**
 * Ends an update whose new container failed.
 *
 * @throws {JobEnd}
 */
export async function rollBack(
  deps: Deps,
  job: UpdateJob,
  end: Replaced & { failure: Failure },
): Promise<never> {
  const { input: { name, reference } } = job;
  const { failure: { reason, evidence }, pulled: { digest } } = end;
  const { id, problem, data } = await putBack(deps, job, end);
  const all = `${problem === null ? reason : problemOf(reason, problem)}${describeData(data)}`;
  const result: FailedUpdate = {
    container: name,
    id,
    image: reference,
    digest,
    evidence,
    reason: all,
    data,
  };
  throw new JobEnd(problem === null ? "rolled_back" : "needs_attention", all, result);
}

/** The end of an update that failed. */
interface PutBack {
  /** Of the container that has the name then. */
  id: string;
  /** Problem that needs attention: why the old one could not be restored, or which new one remains. */
  problem: string | null;
  data: DataResult | null;
}

/**
 * Puts the old containers back, removes the new ones and blocks their image. If that fails, the
 * containers that can run stay, and all updates of the container are blocked.
 *
 * Data is brought back before, if it was kept: no old container starts on what a new one wrote.
 *
 * @param end.state Of data that was brought back already.
 * @param end.isStackBack Whether its new containers must not run on the data of its stack.
 */
export async function putBack(
  deps: Deps,
  job: UpdateJob,
  { planned, pulled, pairs, failure, state: known, isStackBack = false }: Replaced & {
    failure: Failure;
    state?: DataState | undefined;
    isStackBack?: boolean;
  },
): Promise<PutBack> {
  const { name, reference, isRebuild } = job.input;
  const { reason, isCancelled, evidence } = failure;
  const { digest, digests } = pulled;
  keepCrashLines(
    deps.crashLines,
    job.id,
    evidenceLines(failure.evidence, failure.container ?? name),
  );
  const ended = endOfRollback(job);
  if (ended) return ended;
  const state = known ?? await bringBack(deps, dataRunOf(deps, job, planned, pairs));
  const end = await job.step("roll_back", async (): Promise<PutBack> => {
    const isBack = isStackBack || Boolean(state.data?.restored);
    const left = { ...await restoreOrKeep(deps, pairs, state, isBack), data: state.data };
    await restoreName(deps, job, planned);
    const recordFailure = () => {
      if (!isCancelled) {
        recordVerdict(deps, job, { ...pulled, outcome: "failure", reason, evidence });
      }
    };
    if (left.problem === null) {
      await removePreviousTag(deps, { containerName: name, imageId: planned.oldImageId });
      report(deps, job, "update.rolled_back", { reason, digest }, () => {
        if (!isCancelled && !isRebuild) block(deps, job, { digests, image: reference, reason });
        recordFailure();
      });
    } else {
      const all = problemOf(reason, left.problem);
      report(deps, job, "update.needs_attention", { reason: all, digest }, () => {
        block(deps, job, { digests: [EVERY_DIGEST], image: reference, reason: all });
        recordFailure();
      });
    }
    return left;
  });
  await removeCopy(deps, job);
  return end;
}

/** `undefined` before the end. */
export const endOfRollback = (job: UpdateJob): PutBack | undefined =>
  job.resultOf("roll_back") as PutBack | undefined;

const problemOf = (reason: string, problem: string) => `${reason}; ${problem}`;

async function restoreOrKeep(
  deps: Deps,
  pairs: readonly Pair[],
  state: DataState,
  isBack: boolean,
): Promise<Omit<PutBack, "data">> {
  switch (state.has) {
    case "new":
      return { id: await keepLiving(deps, pairs), problem: state.problem };
    case "part":
      return { id: await leaveStopped(deps, pairs), problem: state.problem };
  }
  try {
    const { returned: [target], problems } = await putOldBack(deps, pairs);
    return { id: target!.oldId, problem: problems.join("; ") || null };
  } catch (error) {
    await throwIfInterrupted(deps, error);
    const problem = `the old container could not be restored: ${messageOf(deps, error)}`;
    // The new ones would change the data again that is back.
    const keep = isBack ? leaveStopped : keepLiving;
    return { id: await keep(deps, pairs), problem };
  }
}

/** Keeps images from being tried again on the container. */
export function block(
  { db, now }: Deps,
  { id: jobId, input: { name } }: UpdateJob,
  { digests, image, reason }: { digests: readonly string[]; image: string; reason: string },
): void {
  for (const digest of digests) {
    upsertBlockedUpdate(db, {
      id: crypto.randomUUID(),
      containerName: name,
      digest,
      image,
      reason,
      jobId,
      createdAt: now().toISOString(),
    });
  }
}
