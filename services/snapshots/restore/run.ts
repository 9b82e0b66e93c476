/**
 * Restores volumes and directories. What is there is kept as a snapshot before it is emptied, so that the
 * old bytes exist at every moment: if the containers do not work with what was restored, they get them
 * back. Every step can be repeated after an interruption.
 *
 * @module
 */

import type { Repository } from "../../backup/restic/repository.ts";
import { openTargetRepository } from "../../backup/targets/open.ts";
import { assertKept, keepParts, putPartsBack } from "../../backup/trees/keep.ts";
import { keptTags } from "../../backup/trees/tags.ts";
import { writeParts } from "../../backup/trees/write.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import { containersUsing } from "../../backup/volumes/users.ts";
import { currentContainers, isUp } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError, messageFor } from "../../errors.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { verify } from "../../updates/run/verify.ts";
import { type Held, hold, planHold, release } from "../hold.ts";
import { operationOf } from "../job.ts";
import type { RestoreJob, RestoreResult } from "./job.ts";
import { createVolumes, removeVolumes } from "./new_volumes.ts";

/** Seconds that a container without a health check must stay up. */
const STABLE_S = 10;

/** Step that stores a failure, so that a restart takes it back and does not try again. */
const FAILURE = "failure";

export async function restoreParts(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  return await (job.input.to === "new" ? restoreAsNew : replace)(deps, job);
}

async function restoreAsNew(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  const { input: { files, parts, place, snapshot, targetId }, signal } = job;
  try {
    using opened = await openTargetRepository(deps, targetId, signal);
    const { repository } = opened;
    const written = await job.step("write", async () => {
      // Those of an attempt that was interrupted.
      await removeVolumes(deps, job);
      await createVolumes(deps, job);
      const request = { snapshot, parts, files, emptiedWith: null };
      return await writeParts(deps, repository, request, job);
    });
    const restored = parts.map(({ to }) => to.mount.source);
    return { ...written, restored, kept: null, target: place, downtimeMs: 0, verdict: null };
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    await removeVolumes(deps, job);
    throw failure;
  }
}

/** Failure of a replacement, stored before anything is taken back. */
interface Failure {
  reason: string;
  /** Whether the volumes may have been changed. */
  hasWritten: boolean;
}

/** Replaces what is in volumes that containers use. A failure that was stored is taken back, only. */
async function replace(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  const held = await job.step("plan", () => planReplacement(deps, job));
  if (job.resultOf(FAILURE) === undefined) {
    try {
      return await attempt(deps, job, held);
    } catch (error) {
      const failure = await throwIfInterrupted(deps, error);
      await job.step(FAILURE, (): Promise<Failure> =>
        Promise.resolve({
          reason: messageFor(deps.log, failure, "restore failed", { job: job.id }),
          hasWritten: job.hasBegun("write"),
        }));
    }
  }
  return await takeBack(deps, job, held);
}

/** Containers may have been created since the job was started. */
async function planReplacement(deps: Deps, { input }: RestoreJob): Promise<Held> {
  const users = await containersUsing(deps, input.parts.map(({ to }) => to.mount));
  if (users.some(({ id }) => !input.affected.some((each) => each.id === id))) {
    throw new AppError("conflict", "Other containers use the volumes meanwhile; try again");
  }
  return planHold("stop", users);
}

async function attempt(deps: Deps, job: RestoreJob, held: Held): Promise<RestoreResult> {
  const { input: { affected, files, images, parts, place, snapshot, targetId }, signal } = job;
  using opened = await openTargetRepository(deps, targetId, signal);
  const { repository } = opened;
  const operation = operationOf("backup.restore", job.target);
  const startedAt = performance.now();
  const stop = () => hold(deps, held, operation);
  await job.step("keep", async () => {
    await stop();
    return await keep(deps, job, repository);
  });
  // An engine that was restarted has started containers again, which have written since.
  if (!job.hasBegun("write") && await isAnyUp(deps, held)) {
    await job.step("keep again", async () => {
      await stop();
      return await keep(deps, job, repository);
    });
  }
  const written = await job.step("write", async () => {
    await stop();
    const request = { snapshot, parts, files, emptiedWith: files === null ? images : null };
    const write = () => writeParts(deps, repository, request, job);
    return await withoutValuesOf(deps.engine, affected, write);
  });
  await job.step("release", () => release(deps, held, operation));
  const downtimeMs = Math.round(performance.now() - startedAt);
  const verdict = await job.step("verify", () => verifyHeld(deps, job, held));
  const restored = parts.map(({ to }) => to.mount.source);
  return { ...written, restored, kept: keptBy(job), target: place, downtimeMs, verdict };
}

/** The snapshot of what was there before the first write. */
const keptBy = (job: RestoreJob): string | null =>
  (job.resultOf("keep again") ?? job.resultOf("keep") ?? null) as string | null;

/** @throws {AppError} `conflict` if something that is not in the snapshot would be deleted. */
async function keep(deps: Deps, job: RestoreJob, repository: Repository): Promise<string> {
  const tags = keptTags(job.target);
  const stored = await keepParts(deps, repository, usedParts(job), { tags, job });
  assertKept(stored);
  return stored.snapshot;
}

const usedParts = ({ input: { affected, parts, images } }: RestoreJob) => ({
  parts: parts.map(({ to }) => to),
  images,
  containers: affected,
});

/** Whether one of the held containers runs. */
export async function isAnyUp(deps: Deps, { containers }: Held): Promise<boolean> {
  const ids = new Set(containers.map(({ id }) => id));
  return (await currentContainers(deps)).some((each) => ids.has(each.id) && isUp(each));
}

/** The containers get what was kept, and start with it. @throws {JobEnd} Always. */
async function takeBack(deps: Deps, job: RestoreJob, held: Held): Promise<never> {
  const { reason, hasWritten } = job.resultOf(FAILURE) as Failure;
  const operation = operationOf("backup.restore", job.target);
  const kept = keptBy(job);
  const result = { kept, target: job.input.place };
  try {
    if (hasWritten) await job.step("put back", () => putBack(deps, job, held));
    await job.step("start again", () => release(deps, held, operation));
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    const message = messageFor(deps.log, failure, "restore not taken back", { job: job.id });
    const place = kept === null ? "" : `; what was there is in snapshot ${kept}`;
    throw new JobEnd(
      "needs_attention",
      `${reason}. Taking it back failed: ${message}${place}`,
      result,
    );
  }
  throw new JobEnd("rolled_back", reason, result);
}

/** Also for a job that was cancelled. */
async function putBack(deps: Deps, job: RestoreJob, held: Held): Promise<void> {
  const kept = { ...usedParts(job), targetId: job.input.targetId, snapshot: keptBy(job)! };
  await putPartsBack(deps, kept, {
    job: { signal: deps.jobs.stopping, progress: job.progress },
    stop: () => hold(deps, held, operationOf("backup.restore", job.target)),
  });
}

/** @returns Why the containers count as well; `null` if none ran. */
async function verifyHeld(
  deps: Deps,
  { input: { stableSeconds }, signal, progress }: RestoreJob,
  { containers }: Held,
): Promise<string | null> {
  if (containers.length === 0) return null;
  const subjects = containers.map(({ id, name }) => ({ name, newId: id, ran: true, ports: [] }));
  return await verify(deps, subjects, {
    watched: [],
    stableSeconds: stableSeconds ?? undefined,
    defaultStableSeconds: STABLE_S,
    signal,
    onProgress: (message) => progress({ current: 0, total: null, message }),
  });
}
