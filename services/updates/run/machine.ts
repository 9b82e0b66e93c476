/**
 * The steps of an update: planned → pulled → created → swapped → verified → committed, or
 * rolled back. Every step starts from what the job recorded and from the engine's current state, so
 * that after a crash of this service or of the engine the job goes on, or back, where it was.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { failedContainer } from "./container_error.ts";
import { copyData, keepData } from "../data/steps.ts";
import { dataRunOf } from "../data/update_run.ts";
import { assertAllowed, assertNotBlocked, NotReachedError } from "./allowed.ts";
import { readUpdateSettings } from "../settings.ts";
import { collectEvidence, type Evidence } from "./evidence.ts";
import { commit, rollBack } from "./finish.ts";
import { throwIfInterrupted, watchEngine } from "./interruption.ts";
import {
  type Failure,
  messageOf,
  type Planned,
  type Pulled,
  type Replaced,
  report,
  type UpdateJob,
  type UpdateResult,
} from "./job.ts";
import type { Pair } from "./members.ts";
import { watchMonitors } from "./monitors.ts";
import { obtainImage, planUpdateJob, restoreName } from "./prepare.ts";
import { createReplacements } from "./replacements.ts";
import { putNewInPlace, restartStopped } from "./swap.ts";
import { verify } from "./verify.ts";

/** Runs the job from where it is. */
export async function update(deps: Deps, job: UpdateJob): Promise<UpdateResult> {
  const prepared = await prepare(deps, job);
  if (!prepared.pairs) return unchanged(job, prepared);

  const replaced = { ...prepared, pairs: prepared.pairs };
  using mark = markReplaced(deps, replaced.pairs);
  const end = await replace(deps, job, replaced);
  if ("failure" in end) return await rollBack(deps, job, { ...replaced, failure: end.failure });
  mark[Symbol.dispose]();
  const result = await commit(deps, job, { ...replaced, verdict: end });
  const { rehearsal } = prepared;
  return { ...result, ...(rehearsal !== undefined && { rehearsal }) };
}

/** No messages about the containers until the result is disposed. */
export const markReplaced = ({ reservations }: Deps, pairs: readonly Pair[]): Disposable =>
  reservations.markReplaced(pairs.map(({ oldId: id, name }) => ({ id, name })));

/** Work that is done before a container is changed. */
interface Prepared extends Pick<Replaced, "planned" | "pulled"> {
  /** `undefined` if there is nothing to update. */
  pairs: Pair[] | undefined;
  /** Verdict of the rehearsal, if there was one. */
  rehearsal?: string | undefined;
}

/** Does everything that can be done before a container is changed. */
export async function prepare(deps: Deps, job: UpdateJob): Promise<Prepared> {
  let planned: Planned | undefined;
  try {
    planned = await job.step("plan", () => planUpdateJob(deps, job));
    const known = planned;
    const pulled = await job.step("pull", () => obtainImage(deps, job, known));
    if (isCurrent(job, planned, pulled)) return { planned, pulled, pairs: undefined };

    await assertAllowed(deps, job, pulled);
    const rehearsal = await rehearseIfChosen(deps, job, planned, pulled);
    if (job.input.rehearsal === "only") {
      await restoreName(deps, job, planned);
      return { planned, pulled, pairs: undefined, rehearsal };
    }
    await copyData(deps, dataRunOf(deps, job, planned));
    const { members, defaultRuntime } = planned;
    const pairs = await job.step("create", async () => {
      report(deps, job, "update.started", { digest: pulled.digest });
      return await createReplacements(deps, members, {
        reference: job.input.reference,
        imageId: pulled.imageId,
        defaultRuntime: defaultRuntime ?? undefined,
      });
    });
    return { planned, pulled, pairs, rehearsal };
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    if (planned) await restoreName(deps, job, planned);
    // An image that has not come yet is not a failure.
    if (!(error instanceof NotReachedError)) {
      report(deps, job, "update.failed", { reason: messageOf(deps, error) });
    }
    throw failure;
  }
}

async function rehearseIfChosen(
  deps: Deps,
  job: UpdateJob,
  planned: Planned,
  pulled: Pulled,
): Promise<string | undefined> {
  if (!job.input.rehearsal) return undefined;
  const { rehearseUpdate } = await import("../rehearsal/update.ts");
  return await job.step("rehearse", () => rehearseUpdate(deps, job, planned, pulled));
}

/** Whether the container already runs the image under the same reference. */
const isCurrent = ({ input }: UpdateJob, planned: Planned, { imageId }: Pulled): boolean =>
  !input.force && imageId === planned.oldImageId && input.reference === planned.oldReference;

export function unchanged(
  { input: { name, reference } }: UpdateJob,
  { planned: { oldImageId, members }, pulled: { digest }, rehearsal }: Prepared,
): UpdateResult {
  const id = members[0]!.oldId;
  return {
    container: name,
    oldId: id,
    id,
    image: reference,
    imageId: oldImageId,
    digest,
    updated: false,
    verdict: "success",
    reason: rehearsal ?? `${name} already runs this image`,
    ...(rehearsal !== undefined && { rehearsal }),
    downtimeMs: null,
    data: null,
  };
}

type Verdict = Pick<UpdateResult, "verdict" | "reason">;

/** Of a rebuild. */
const NOT_OBSERVED: Verdict = { verdict: "inconclusive", reason: "Not observed" };

/** Puts the new containers in place and judges them. */
export async function replace(
  deps: Deps,
  job: UpdateJob,
  { planned, pulled, pairs }: Replaced,
): Promise<Verdict | { failure: Failure }> {
  // Old containers may be gone then.
  if (job.hasBegun("commit")) return (job.resultOf("verify") ?? NOT_OBSERVED) as Verdict;
  let failure: Omit<Failure, "evidence"> = {
    reason: "Interrupted during a rollback",
    container: null,
    isCancelled: true,
  };
  // A rollback that has begun is finished.
  if (!job.hasBegun("evidence")) {
    try {
      job.signal.throwIfAborted();
      if (!job.hasBegun("swap")) await assertAllowed(deps, job, pulled);
      // The old container may be stopped from here on, so that the hub is not asked any more.
      await keepData(deps, dataRunOf(deps, job, planned, pairs));
      if (!job.hasBegun("swap")) assertNotBlocked(deps, job, pulled);
      await job.step("swap", () => putNewInPlace(deps, pairs));
      if (job.input.isRebuild) return NOT_OBSERVED;
      return await judgeNew(deps, job, planned, pairs);
    } catch (error) {
      await throwIfInterrupted(deps, error);
      // Data that could not be kept says nothing about the image either.
      const isCancelled = job.signal.aborted || !job.hasBegun("swap");
      const container = failedContainer(error);
      failure = { reason: messageOf(deps, error), container, isCancelled };
    }
  }
  return { failure: await job.step("evidence", () => gather(deps, pairs, failure)) };
}

/** @throws {AppError} The reason of a failure. */
async function judgeNew(
  deps: Deps,
  job: UpdateJob,
  { watched, members: [target] }: Planned,
  pairs: readonly Pair[],
): Promise<Verdict> {
  const { input, signal } = job;
  const { name, logPattern, monitors, stableSeconds, verifyTimeoutSeconds } = input;
  const isResumed = job.hasBegun("verify");
  const assertSameEngine = watchEngine(deps);
  return await job.step("verify", async (): Promise<Verdict> => {
    try {
      // The engine may have been stopped meanwhile.
      if (isResumed) await restartStopped(deps, pairs);
      await using watch = await watchMonitors(deps, monitors);
      const reason = await verify(deps, pairs, {
        watched,
        logPattern: logPattern ?? undefined,
        missing: watch.missing,
        stableSeconds: stableSeconds ?? undefined,
        defaultStableSeconds: readUpdateSettings(deps).stableSeconds,
        verifyTimeoutSeconds: verifyTimeoutSeconds ?? undefined,
        signal,
        onProgress: (message) => job.progress({ current: 0, total: null, message }),
      });
      // An engine that stops may end a task as if it had completed.
      await assertSameEngine();
      return target!.ran
        ? { verdict: "success", reason }
        : { verdict: "inconclusive", reason: `${name} was not running and was not started` };
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = await throwIfInterrupted(deps, error);
      await assertSameEngine();
      if (target!.worked) throw failure;
      const reason = `${messageOf(deps, error)}, but it did not work before either`;
      return { verdict: "inconclusive", reason };
    }
  });
}

async function gather(
  deps: Deps,
  pairs: readonly Pair[],
  failure: Omit<Failure, "evidence">,
): Promise<Failure> {
  const evidence: Evidence[] = [];
  for (const { name, newId, ran } of pairs) {
    if (!ran) continue;
    try {
      evidence.push(await collectEvidence(deps.engine, { name, id: newId }));
    } catch (error) {
      // A container that cannot be described does not keep the old one from returning.
      await throwIfInterrupted(deps, error);
    }
  }
  return { ...failure, evidence };
}
