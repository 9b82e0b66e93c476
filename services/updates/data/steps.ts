/**
 * Steps of an update that can bring data back: a copy while the old container runs, whose chunks make
 * the second one short; a snapshot of the stopped container's volumes; and after a failure a snapshot
 * of what the new version wrote, before the volumes are emptied and get the first one back. Each step
 * can be repeated, and the old bytes are kept from before the first start of the new container.
 *
 * @module
 */

import type { JobProgress } from "../../../db/jobs.ts";
import type { KeptData } from "../../../db/updates/previous.ts";
import { TarError } from "../../backup/tar.ts";
import { openTargetRepository } from "../../backup/targets/open.ts";
import {
  assertKept,
  keepParts,
  keepUndone,
  putPartsBack,
  type UsedParts,
  withoutText,
  writtenOf,
} from "../../backup/trees/keep.ts";
import { checkBefore } from "../../backup/trees/check.ts";
import { whenUnlocked } from "../../backup/trees/lock_wait.ts";
import { restoredPart, volumePart } from "../../backup/trees/part.ts";
import type { Stored } from "../../backup/trees/store.ts";
import { type Reason, tagsOf } from "../../backup/trees/tags.ts";
import { writeParts } from "../../backup/trees/write.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { errorFields } from "../../log.ts";
import { throwIfInterrupted } from "../run/interruption.ts";
import { type DataResult, messageOf, type UndoneData } from "../run/job.ts";
import { readUpdateSettings } from "../settings.ts";
import { assertNoneUp, assertNotShared } from "./plan.ts";
import {
  COPY,
  EMPTY,
  EMPTY_WRITTEN,
  KEEP,
  KEEP_WRITTEN,
  keepAgainStep,
  KEPT_MAX,
  PUT_BACK,
  WRITE,
} from "./step_names.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Longest removal of the copy, in milliseconds. */
const REMOVAL_MS = 30_000;

/** Part of a job's input. */
interface DataInput {
  targetId?: string | undefined;
  place?: string | undefined;
  restored?: KeptData | undefined;
}

type DataJob = Pick<
  JobRun<DataInput>,
  "hasBegun" | "input" | "progress" | "resultOf" | "signal" | "step"
>;

/** A job that keeps data while it replaces containers. */
export interface DataRun {
  job: DataJob;
  /** Missing if the data stays as it is written. */
  undone: UndoneData | undefined;
  /** Ids of the containers that are replaced. */
  replaced: readonly string[];
  /** Notes of the snapshots. */
  notes: { update: string; undo: string };
  /** Whether a new container may have written to the volumes. */
  hasStarted(): boolean;
  /** Ids of all containers of the job, old and new, and of those that earlier parts have replaced. */
  own(): Promise<readonly string[]>;
  stopOld(signal: AbortSignal): Promise<void>;
  stopNew(): Promise<void>;
  isAnyOldUp(): Promise<boolean>;
}

/** State of the volumes after a failure. */
export type DataState =
  /** As before the update; also if none were to be kept. */
  | { has: "old"; data: DataResult | null }
  /** As the new version has left them. */
  | { has: "new"; data: DataResult | null; problem: string }
  /** A part of what was there; the snapshot has all. */
  | { has: "part"; data: DataResult; problem: string };

/**
 * Stores the volumes while the old container runs, so that what cannot be kept is found before
 * anything is stopped, and earlier data that cannot be written, too.
 *
 * @throws {AppError} `conflict` for what cannot be kept or written; `bad_gateway` if the target fails.
 */
export async function copyData(deps: Deps, run: DataRun): Promise<void> {
  if (!run.undone) return;
  const { restored } = run.job.input;
  await run.job.step(COPY, async () => {
    if (restored) await checkEarlier(deps, run, restored);
    try {
      const stored = await store(deps, run, { reason: "update" });
      assertKept(stored, { isLive: true });
      return stored.snapshot;
    } catch (error) {
      // A file that became shorter meanwhile; the stopped container's do not.
      if (!(error instanceof AppError && error.cause instanceof TarError)) throw error;
      deps.log.info("data not copied while the container runs", errorFields(error));
      return null;
    }
  });
}

/**
 * Stops the old containers and stores their volumes. A rollback with data then gives them the earlier
 * data.
 *
 * @throws {AppError} As {@linkcode copyData}.
 */
export async function keepData(deps: Deps, run: DataRun): Promise<void> {
  const { job } = run;
  if (!run.undone) return;
  const { restored } = job.input;
  const keep = async () => {
    await assertOwn(deps, run);
    const stored = await store(deps, run, {
      reason: restored ? "undo" : "update",
      stop: () => stopOld(deps, run),
    });
    assertKept(stored);
    return stored;
  };
  await job.step(KEEP, keep);
  // One that was started since by hand, or with the engine, has written since.
  const isChanged = job.hasBegun(EMPTY) || run.hasStarted();
  for (
    let at = 1;
    !isChanged && (job.hasBegun(keepAgainStep(at)) || await run.isAnyOldUp());
    at++
  ) {
    if (at === KEPT_MAX) {
      throw new AppError("conflict", "Its containers start again and again; stop what starts them");
    }
    await job.step(keepAgainStep(at), keep);
  }
  if (!restored) return;
  await job.step(WRITE, () => writeEarlier(deps, run, restored));
}

/** @throws {AppError} `conflict` if another container has come to use a volume. */
const assertOwn = async (deps: Deps, { undone, own }: DataRun): Promise<void> =>
  await assertNotShared(deps, undone!.volumes, await own());

/** Stops the old containers. @throws {AppError} `conflict` if others may write to the volumes. */
async function stopOld(deps: Deps, run: DataRun): Promise<void> {
  await run.stopOld(run.job.signal);
  await assertUnused(deps, run);
}

/** @throws {AppError} `conflict` for one that is not of the job, or that runs. */
async function assertUnused(deps: Deps, run: DataRun): Promise<void> {
  await assertOwn(deps, run);
  await assertNoneUp(deps, run.undone!.volumes);
}

interface StoreOptions {
  reason: keyof DataRun["notes"] & Reason;
  /** Default: that of the job. */
  signal?: AbortSignal;
  /** Called when the target can be written to. */
  stop?(): Promise<void>;
}

async function store(
  deps: Deps,
  run: DataRun,
  { reason, stop, signal = run.job.signal }: StoreOptions,
): Promise<Stored> {
  const { job, notes, undone } = run;
  const keptUntil = new Date(
    deps.now().getTime() + (readUpdateSettings(deps).keepPreviousDays + 1) * DAY_MS,
  ).toISOString().slice(0, 10);
  const tags = tagsOf({ stack: undone!.stack, reason, note: notes[reason], keptUntil });
  using opened = await openTargetRepository(deps, job.input.targetId, signal);
  await whenUnlocked(opened.repository, { signal, progress: job.progress });
  await stop?.();
  return await keepParts(deps, opened.repository, usedBy(run), {
    tags,
    job: inSentences(job, signal),
  });
}

/** The job, whose progress counts steps, and shows that of the data as a text. */
const inSentences = ({ progress }: DataJob, signal: AbortSignal) => ({
  signal,
  progress: ({ current, message }: JobProgress) =>
    progress({ current: 0, total: null, message: `${message}: ${Math.round(current / 1e6)} MB` }),
});

const usedBy = ({ undone, replaced }: DataRun): UsedParts => ({
  parts: undone!.volumes.map(volumePart),
  images: undone!.images,
  containers: replaced.map((id) => ({ id })),
});

async function checkEarlier(
  deps: Deps,
  { job }: DataRun,
  restored: KeptData,
): Promise<void> {
  using opened = await openTargetRepository(deps, job.input.targetId, job.signal);
  const checked = { ...earlierParts(restored), files: null };
  await checkBefore(opened.repository, checked, inSentences(job, job.signal));
}

const earlierParts = ({ snapshot, volumes }: KeptData) => ({
  snapshot,
  parts: volumes.map(volumePart).map(restoredPart),
});

async function writeEarlier(deps: Deps, run: DataRun, restored: KeptData): Promise<void> {
  const { job } = run;
  using opened = await openTargetRepository(deps, job.input.targetId, job.signal);
  await stopOld(deps, run);
  const { images, containers } = usedBy(run);
  const begin = beginStep(job, EMPTY);
  const request = { ...earlierParts(restored), files: null, emptiedWith: images, begin };
  const write = () => writeParts(deps, opened.repository, request, inSentences(job, job.signal));
  await withoutValuesOf(deps.engine, containers, write);
}

/** Records the first change, until which the volumes have what was there. */
const beginStep = (job: DataJob, name: string) => () => job.step(name, () => Promise.resolve(true));

/** Whether a volume was emptied, and has not got all of its data. */
const hasPart = ({ hasBegun, resultOf }: DataJob): boolean =>
  hasBegun(EMPTY_WRITTEN) || hasBegun(EMPTY) && resultOf(WRITE) === undefined;

/** The snapshots of a job that has not failed; `null` if no data was kept. */
export function dataOf({ input, resultOf, hasBegun }: DataJob): DataResult | null {
  const steps = Array.from({ length: KEPT_MAX }, (_, at) => at === 0 ? KEEP : keepAgainStep(at));
  const kept = steps.map(resultOf).findLast((each) => each !== undefined) as Stored | undefined;
  if (!kept) return null;
  return {
    target: input.place!,
    before: kept.snapshot,
    size: kept.size,
    written: null,
    restored: hasBegun(EMPTY) ? input.restored?.snapshot ?? null : null,
  };
}

/** The data from before, for a later rollback. */
export function keptDataOf(job: DataJob, undone: UndoneData | undefined): KeptData | null {
  const data = dataOf(job);
  if (!data || !undone) return null;
  const { volumes } = undone;
  return { targetId: job.input.targetId!, place: data.target, snapshot: data.before, volumes };
}

/** Whether the data that was kept has to be brought back after a failure. */
export const mayBeChanged = (run: DataRun): boolean =>
  dataOf(run.job) !== null && (run.hasStarted() || run.job.hasBegun(EMPTY));

/**
 * Brings the data back that the new containers may have changed; what they wrote is kept before. Also
 * for a job that was cancelled.
 */
export async function bringBack(deps: Deps, run: DataRun): Promise<DataState> {
  const { job } = run;
  const data = dataOf(job);
  if (!data || !mayBeChanged(run)) return { has: "old", data };
  const signal = deps.jobs.stopping;
  // Also old ones, which a person may have started.
  const stop = async () => {
    await run.stopNew();
    await run.stopOld(signal);
    await assertUnused(deps, run);
  };
  try {
    // Volumes that have their data again are not written to.
    if (!job.resultOf(PUT_BACK)) await assertOwn(deps, run);
    if (run.hasStarted()) {
      await job.step(KEEP_WRITTEN, async () => {
        const keep = () => store(deps, run, { reason: "undo", stop, signal });
        return await keepUndone(keep, signal);
      });
    }
    await job.step(PUT_BACK, async () => {
      const kept = { ...usedBy(run), targetId: job.input.targetId!, snapshot: data.before };
      await putPartsBack(deps, kept, {
        job: inSentences(job, signal),
        stop,
        begin: beginStep(job, EMPTY_WRITTEN),
        hasBegun: () => hasPart(job),
      });
      return true;
    });
    return { has: "old", data: { ...data, ...writtenBy(job), restored: data.before } };
  } catch (error) {
    await throwIfInterrupted(deps, error);
    const written = writtenBy(job);
    const problem =
      `the data could not be brought back: ${messageOf(deps, error)}; the data from ` +
      `before is in ${snapshotText(data.before, data.target)}`;
    return hasPart(job)
      ? { has: "part", data: { ...data, ...written, restored: null }, problem }
      : { has: "new", data: { ...data, ...written }, problem };
  }
}

function writtenBy(
  { resultOf }: DataJob,
): Pick<DataResult, "written" | "skipped" | "skippedCount"> {
  const written = writtenOf(resultOf(KEEP_WRITTEN));
  if (!written) return { written: null };
  const { snapshot, ...lacks } = written;
  return { written: snapshot, ...lacks.skippedCount > 0 && lacks };
}

/**
 * Says which snapshot is which; empty if the volumes were not changed.
 *
 * @param container Named if there are several.
 */
export function describeData(data: DataResult | null, container?: string): string {
  if (!data || data.restored !== data.before) return "";
  const written = data.written === null
    ? ""
    : `, and what the new version wrote is in ${snapshotText(data.written, data.target)}${
      withoutText(data)
    }`;
  const whose = container === undefined ? "" : ` of ${container}`;
  return `; the data${whose} from before is back (${
    snapshotText(data.before, data.target)
  })${written}`;
}

const SHOWN_ID = 8;

const snapshotText = (id: string, target: string) =>
  `snapshot ${id.slice(0, SHOWN_ID)} at ${target}`;

/** Removes the copy, whose chunks the other snapshots have; one that cannot be removed stays. */
export async function removeCopy(deps: Deps, job: DataJob): Promise<void> {
  const copy = job.resultOf(COPY) as string | null | undefined;
  if (!copy || job.resultOf(KEEP) === undefined) return;
  const signal = AbortSignal.any([AbortSignal.timeout(REMOVAL_MS), deps.jobs.stopping]);
  try {
    using opened = await openTargetRepository(deps, job.input.targetId, signal);
    await opened.repository.removeSnapshots([copy], signal);
  } catch (error) {
    deps.log.info("copy of an update not removed", { snapshot: copy, ...errorFields(error) });
  }
}
