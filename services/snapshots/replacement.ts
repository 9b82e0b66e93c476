/**
 * Replaces what volumes and directories have. Their containers are stopped, and what is there is kept as a
 * snapshot before the first write, so that the old bytes exist at every moment: if the rest fails, they
 * come back. Every step can be repeated after an interruption.
 *
 * @module
 */

import type { Repository } from "../backup/restic/repository.ts";
import { openTargetRepository } from "../backup/targets/open.ts";
import {
  keepParts,
  keepUndone,
  putPartsBack,
  withoutText,
  writtenOf,
} from "../backup/trees/keep.ts";
import { whenUnlocked } from "../backup/trees/lock_wait.ts";
import type { Part } from "../backup/trees/part.ts";
import { tagsOf } from "../backup/trees/tags.ts";
import type { VolumeImage } from "../backup/volumes/writing_images.ts";
import type { Container } from "../containers/inventory.ts";
import { currentContainers, isUp } from "../containers/reads.ts";
import type { Identity, Operation } from "../containers/reservations.ts";
import type { Deps } from "../deps.ts";
import { AppError, messageFor } from "../errors.ts";
import { JobEnd, type JobRun } from "../jobs/kind.ts";
import type { Evidence } from "../updates/run/evidence.ts";
import { throwIfInterrupted } from "../updates/run/interruption.ts";
import { type Held, hold, keepDown, planFirmHold, planHold, release } from "./hold.ts";

/** Part of the request of each job that replaces. */
export interface ReplacementInput {
  targetId: string;
  /** Name of the target. */
  place: string;
  /** For helper containers. */
  images: VolumeImage[];
  /** Containers that use what is replaced. */
  affected: Identity[];
}

type ReplacementJob = JobRun<ReplacementInput>;

export interface Replacement {
  held: Held;
  operation: Operation;
  /** Parts that exist, and come back. */
  parts: readonly Part[];
  /** Containers that may not run while the parts are written. */
  findUsers(): Promise<Container[]>;
}

/** Value of the steps that keep what is there. */
interface Kept {
  snapshot: string;
  /** Reading of the clock when the containers were stopped, in Unix milliseconds. */
  stoppedAt: number;
}

/** Step that stores a failure, so that a restart takes it back and does not try again. */
const FAILURE = "failure";

/** Step that begins with the first change of a volume or directory. */
const EMPTY = "empty";

/** Records the first change, until which everything has what was there. No container may start since. */
export async function beginChange(
  deps: Deps,
  job: ReplacementJob,
  { held }: Replacement,
): Promise<void> {
  await keepDown(deps, held);
  await job.step(EMPTY, () => Promise.resolve(true));
}

/** Value of the step `failure`. */
interface Failure {
  reason: string;
  /** Whether volumes and directories may have been created or changed. */
  hasWritten: boolean;
  /** Logs and health checks of containers that failed. */
  evidence: Evidence[];
}

/** Snapshots that one job makes of what is there. */
const KEPT_MAX = 10;

/** @throws {AppError} `conflict` for containers that were created since the job was started. */
export function planReplacement({ affected }: ReplacementInput, users: readonly Container[]): Held {
  if (users.some(({ id }) => !affected.some((each) => each.id === id))) {
    throw new AppError("conflict", "Other containers use the volumes meanwhile; try again");
  }
  return planFirmHold(users);
}

/**
 * Does the work of a replacement. One that fails, also before a restart, is taken back.
 *
 * @param options.isFinal Whether the work has gone too far to be taken back.
 * @param options.takeBack Takes back what the work has changed; the containers are started afterwards.
 * @throws {JobEnd} `rolled_back`, or `needs_attention` if that failed as well.
 */
export async function replaceOrTakeBack<Result>(
  deps: Deps,
  job: ReplacementJob,
  { held, operation }: Replacement,
  { work, isFinal = () => false, takeBack }: {
    work(): Promise<Result>;
    isFinal?(): boolean;
    takeBack(hasWritten: boolean): Promise<void>;
  },
): Promise<Result> {
  if (job.resultOf(FAILURE) === undefined) {
    try {
      return await work();
    } catch (error) {
      const failure = await throwIfInterrupted(deps, error);
      if (isFinal()) throw failure;
      const reason = messageFor(deps.log, failure, "restore failed", { job: job.id });
      const result = failure instanceof JobEnd ? failure.result as Partial<Failure> | null : null;
      const evidence = result?.evidence ?? [];
      const hasWritten = job.hasBegun(EMPTY);
      await job.step(
        FAILURE,
        (): Promise<Failure> => Promise.resolve({ reason, hasWritten, evidence }),
      );
    }
  }
  const { reason, hasWritten, evidence } = job.resultOf(FAILURE) as Failure;
  const kept = keptBy(job);
  const result = { kept, target: job.input.place, evidence };
  try {
    await takeBack(hasWritten);
    await job.step("start again", () => release(deps, held, operation));
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    const message = messageFor(deps.log, failure, "restore not taken back", { job: job.id });
    const place = kept === null ? "" : `; what was there is in snapshot ${kept}`;
    const policy = held.policies?.length ? "; stopped containers have restart policy no" : "";
    throw new JobEnd(
      "needs_attention",
      `${reason}. Taking it back failed: ${message}${place}${policy}`,
      result,
    );
  }
  const written = writtenOf(job.resultOf(KEEP_WRITTEN));
  if (!written) throw new JobEnd("rolled_back", reason, result);
  const { snapshot, ...lacks } = written;
  throw new JobEnd(
    "rolled_back",
    `${reason}; what was written since is in snapshot ${snapshot}${withoutText(lacks)}`,
    { ...result, ...lacks.skippedCount > 0 && lacks },
  );
}

/**
 * Stops the containers that may write.
 *
 * @throws {AppError} `conflict` for one that was created or started meanwhile.
 */
export async function stopUsers(
  deps: Deps,
  { held, operation, findUsers }: Replacement,
): Promise<void> {
  await hold(deps, held, operation);
  const [user] = planHold("stop", await findUsers()).containers;
  if (user) throw new AppError("conflict", `${user.name} still uses what is restored; stop it`);
}

/**
 * Stops the containers and keeps what is there, until nothing has written since.
 *
 * @param options.store Returns the id of the snapshot.
 */
export async function keepReplaced(
  deps: Deps,
  job: ReplacementJob,
  replacement: Replacement,
  { repository, store }: { repository: Repository; store(): Promise<string> },
): Promise<void> {
  const keep = async (): Promise<Kept> => {
    await whenUnlocked(repository, job);
    const stoppedAt = deps.now().getTime();
    await stopUsers(deps, replacement);
    return { snapshot: await store(), stoppedAt };
  };
  await job.step(keepStep(0), keep);
  if (job.hasBegun(EMPTY)) return;
  // An engine that was restarted has started containers again, which have written since.
  for (let at = 1; job.hasBegun(keepStep(at)) || await isAnyUp(deps, replacement); at++) {
    if (at === KEPT_MAX) {
      throw new AppError("conflict", "Its containers start again and again; stop what starts them");
    }
    await job.step(keepStep(at), keep);
  }
}

const keepStep = (at: number): string => ["keep", "keep again"][at] ?? `keep again ${at}`;

/** Whether one of the held containers runs. */
async function isAnyUp(deps: Deps, { held }: Replacement): Promise<boolean> {
  const ids = new Set(held.containers.map(({ id }) => id));
  return (await currentContainers(deps)).some((each) => ids.has(each.id) && isUp(each));
}

const keptOf = (job: ReplacementJob): Kept[] =>
  Array.from({ length: KEPT_MAX }, (_, at) => job.resultOf(keepStep(at)) as Kept | undefined)
    .filter((kept) => kept !== undefined);

/** The snapshot of what was there before the first write. */
export const keptBy = (job: ReplacementJob): string | null => keptOf(job).at(-1)?.snapshot ?? null;

/** How long containers were stopped until now, in milliseconds. */
export function downtimeOf(
  { now }: Pick<Deps, "now">,
  job: ReplacementJob,
  { held }: Replacement,
): number {
  const [kept] = keptOf(job);
  return kept && held.containers.length > 0 ? now().getTime() - kept.stoppedAt : 0;
}

/** Step that stores what containers wrote after a restore. */
const KEEP_WRITTEN = "keep written";

/**
 * Keeps what containers have written to the parts since they got what was restored; also for a job that
 * was cancelled.
 *
 * @param replacement The containers that run are stopped.
 */
export async function keepWritten(
  deps: Deps,
  job: ReplacementJob,
  replacement: Replacement,
): Promise<void> {
  const { parts } = replacement;
  if (parts.length === 0) return;
  const { input: { affected, images, targetId }, progress, target } = job;
  const signal = deps.jobs.stopping;
  const tags = tagsOf({
    stack: null,
    reason: "undo",
    note: `written after a restore of ${target}`,
  });
  const store = async () => {
    using opened = await openTargetRepository(deps, targetId, signal);
    await whenUnlocked(opened.repository, { progress, signal });
    await stopUsers(deps, replacement);
    const used = { parts, images, containers: affected };
    return await keepParts(deps, opened.repository, used, { tags, job: { progress, signal } });
  };
  await job.step(KEEP_WRITTEN, () => keepUndone(store, signal));
}

/** Gives the parts what they had; also for a job that was cancelled. */
export async function putBack(
  deps: Deps,
  job: ReplacementJob,
  replacement: Replacement,
): Promise<void> {
  const { parts } = replacement;
  if (parts.length === 0) return;
  const { input: { affected, images, targetId }, progress } = job;
  const used = { parts, images, containers: affected };
  await stopUsers(deps, replacement);
  await putPartsBack(deps, { ...used, targetId, snapshot: keptBy(job)! }, {
    job: { signal: deps.jobs.stopping, progress },
    stop: () => stopUsers(deps, replacement),
    begin: () => beginChange(deps, job, replacement),
    hasBegun: () => job.hasBegun(EMPTY),
  });
}
