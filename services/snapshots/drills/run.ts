/**
 * Tries out the restore of a stack: its newest data in new volumes, its containers on them in a private
 * network, judged as an update judges them. Nothing of it stays, whatever happens.
 *
 * @module
 */

import { insertBackupDrill } from "../../../db/backup_drills.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import type { Entries } from "../../backup/restic/entry.ts";
import { openTargetRepository } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { volumePart } from "../../backup/trees/part.ts";
import { writeParts } from "../../backup/trees/write.ts";
import type { Deps } from "../../deps.ts";
import { AppError, messageFor } from "../../errors.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { assertHarmless, keyOf } from "../../updates/trial/members.ts";
import {
  createTrialContainers,
  createTrialVolume,
  removeLeftTrials,
  removeTrial,
  type TrialContainer,
} from "../../updates/trial/parts.ts";
import { assertRoomForCopies, whileThereIsRoom } from "../../updates/trial/room.ts";
import { evidenceOf, runTrial } from "../../updates/trial/run.ts";
import { readDescription } from "../read_description.ts";
import { createFiller } from "./fill.ts";
import { savedImages } from "../saved_images.ts";
import {
  bringMissing,
  type BroughtImages,
  findMissing,
  type MissingImages,
  removeBrought,
} from "./images.ts";
import type { DrillJob, DrillResult } from "./job.ts";
import { chosenContainers, findData, planMembers } from "./plan.ts";

/** Parts of a drill, as far as it came. */
interface Progress {
  containers: TrialContainer[];
  leftOut: string[];
}

/** @throws {JobEnd} If the snapshot could not be restored, or its containers failed. */
export async function drill(deps: Deps, job: DrillJob): Promise<DrillResult> {
  const beganAt = performance.now();
  const progress: Progress = { containers: [], leftOut: [] };
  const record = async (ok: boolean, reason: string, evidence: DrillResult["evidence"]) => {
    const { leftOut } = progress;
    const durationMs = Math.round(performance.now() - beganAt);
    return await storeResult(deps, job, { ok, reason, durationMs, leftOut, evidence });
  };
  try {
    await removeLeftTrials(deps);
    const verdict = await tryOut(deps, job, progress);
    await record(true, verdict, []);
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    job.signal.throwIfAborted();
    const reason = messageFor(deps.log, failure, "drill failed", { job: job.id });
    await record(false, reason, await evidenceOf(deps, progress.containers));
  } finally {
    await removeAll(deps, job).catch((error) => throwUnlessAway(deps, job, error));
  }
  return endOf(job)!;
}

/** An interrupted drill is not continued: what it has created is removed. */
export async function endDrill(deps: Deps, job: DrillJob): Promise<DrillResult> {
  await removeAll(deps, job);
  const end = endOf(job);
  if (end) return end;
  throw new AppError("unavailable", "The drill was interrupted; all that it created was removed");
}

/** @throws {JobEnd} For a drill that failed. */
function endOf({ resultOf }: DrillJob): DrillResult | undefined {
  const result = resultOf("record") as DrillResult | undefined;
  if (result && !result.ok) throw new JobEnd("failed", result.reason, result);
  return result;
}

/** @returns Why the containers count as well. */
async function tryOut(deps: Deps, job: DrillJob, progress: Progress): Promise<string> {
  const { input: { stableSeconds, targetId, snapshot: ref }, signal, target: stack } = job;
  using opened = await openTargetRepository(deps, targetId, signal);
  const { repository } = opened;
  const snapshot = await translated(() => repository.snapshot(ref, signal));
  const description = await readDescription(repository, { id: snapshot.id, stack }, signal);
  const chosen = chosenContainers(description);
  // Stored before anything is pulled, so that it can be removed after a crash.
  const source = { repository, snapshot: snapshot.id };
  const missing = await job.step(
    "plan",
    async () => findMissing(deps, chosen, await savedImages(source, signal)),
  );
  const { ids } = await job.step("images", () => bringMissing(deps, source, missing, job));
  const members = await planMembers(
    deps,
    chosen.map((each) => ({ ...each, imageId: ids[each.imageId] ?? each.imageId })),
  );
  assertHarmless(members);
  const data = await findData(repository, snapshot, members, signal);
  progress.leftOut = data.leftOut;
  await assertRoomForCopies(deps, snapshot.summary?.bytes);

  const volumes = new Map<string, string>();
  await job.step("restore", async () => {
    for (const { source } of data.directories) {
      volumes.set(keyOf(source), await createTrialVolume(deps, job.id, signal));
    }
    const parts = data.directories.map(({ source, from }) => ({
      from,
      to: { ...volumePart(volumes.get(keyOf(source))!), path: source.source },
    }));
    // The size that a snapshot states may be forged.
    const pass = (entries: Entries) => whileThereIsRoom(deps, entries);
    const request = { snapshot: snapshot.id, parts, files: null, emptiedWith: null, pass };
    return await writeParts(deps, repository, request, job);
  });
  await job.step("create", async () => {
    const fill = await createFiller(deps, { repository, snapshot, description, data }, job);
    const options = { volumes, files: data.files, fill, signal };
    progress.containers = await createTrialContainers(deps, job.id, members, options);
  });
  return await job.step("verify", () =>
    runTrial(deps, progress.containers, {
      defaultStableSeconds: stableSeconds,
      signal,
      onProgress: (message) => job.progress({ current: 0, total: null, message }),
    }));
}

/** The result is a fact about the snapshot, also if what was created cannot be removed. */
async function storeResult(
  deps: Deps,
  { id, input: { place, snapshot }, step, target: stack }: DrillJob,
  outcome: Omit<DrillResult, "snapshot" | "target">,
): Promise<void> {
  await step("record", (): Promise<DrillResult> => {
    const { ok, reason, durationMs } = outcome;
    const at = deps.now().toISOString();
    insertBackupDrill(deps.db, { id, stack, snapshot, target: place, ok, reason, durationMs, at });
    return Promise.resolve({ ...outcome, snapshot, target: place });
  });
}

async function removeAll(deps: Deps, job: DrillJob): Promise<void> {
  await job.step("remove", async () => {
    await removeTrial(deps, job.id);
    const missing = job.resultOf("plan") as MissingImages | undefined ?? {};
    await removeBrought(deps, missing, job.resultOf("images") as BroughtImages | undefined);
  });
}

/** An engine that is away gets it removed when it is back. @throws {JobEnd} With what is left. */
function throwUnlessAway(deps: Deps, job: DrillJob, error: unknown): never {
  if (error instanceof EngineUnreachableError || deps.jobs.stopping.aborted) throw error;
  const reason = messageFor(deps.log, error, "drill not removed", { job: job.id });
  const result = job.resultOf("record") ?? null;
  throw new JobEnd("needs_attention", `What the drill created was not removed: ${reason}`, result);
}
