/**
 * Keeps what volumes have before they are overwritten, and puts it back. Both can be repeated after an
 * interruption.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { sleep } from "../../waiting.ts";
import type { Repository } from "../restic/repository.ts";
import { RepositoryError, type RepositoryReason } from "../restic/repository_error.ts";
import { openTargetRepository } from "../targets/open.ts";
import { isDeviceNode, isMeanwhile, isWithoutContent } from "../volumes/limits.ts";
import { withoutValuesOf } from "../volumes/secret_values.ts";
import type { VolumeImage } from "../volumes/writing_images.ts";
import { checkBefore } from "./check.ts";
import { type Part, restoredPart } from "./part.ts";
import { type Stored, storeTree } from "./store.ts";
import { writeParts } from "./write.ts";

/** Attempts to use a target that is away, and the pause between them. */
const ATTEMPTS_MAX = 60;
const ATTEMPT_MS = 10_000;

/** Volumes that containers use. */
export interface UsedParts {
  parts: readonly Part[];
  /** For helper containers. */
  images: readonly VolumeImage[];
  /** Containers whose secret values no error may have. */
  containers: readonly { id: string }[];
}

/**
 * Stores volumes as a snapshot.
 *
 * @throws {AppError} `conflict` for what cannot be read or stored; `bad_gateway` if the target fails.
 */
export async function keepParts(
  deps: Deps,
  repository: Repository,
  { parts, images, containers }: UsedParts,
  { tags, job }: { tags: string[]; job: Pick<JobRun, "signal" | "progress"> },
): Promise<Stored> {
  const tree = { parts, dumps: [], described: null };
  const options = { tags, images: images.map(({ image }) => image), job };
  const store = () => storeTree(deps, repository, tree, options);
  return await withoutValuesOf(deps.engine, containers, store);
}

/**
 * @param options.isLive Whether containers ran meanwhile, and a later snapshot will have the rest.
 * @param options.isUndone Whether it is replaced by what was there before, which device nodes must not
 * prevent.
 * @throws {AppError} `conflict` if something that is not in the snapshot would be lost.
 */
export function assertKept(
  { skipped }: Pick<Stored, "skipped">,
  { isLive = false, isUndone = false }: { isLive?: boolean; isUndone?: boolean } = {},
): void {
  const lost = skipped.find((each) =>
    !isWithoutContent(each) && !(isLive && isMeanwhile(each)) && !(isUndone && isDeviceNode(each))
  );
  if (!lost) return;
  const remedy = isMeanwhile(lost) ? "" : "; move it elsewhere, or delete it";
  throw new AppError("conflict", `${lost.path} cannot be kept: it ${lost.reason}${remedy}`);
}

/** Snapshot of what was written until an undo, with what it lacks. */
export type Written = Pick<Stored, "snapshot" | "skipped" | "skippedCount">;

/**
 * Keeps what is replaced by what was there before. A target that is away is tried again.
 *
 * @throws {AppError} As {@linkcode keepParts}, and `conflict` if something other than nodes would be lost.
 */
export async function keepUndone(
  store: () => Promise<Stored>,
  signal: AbortSignal,
): Promise<Written> {
  const stored = await untilAnswered(store, { signal });
  assertKept(stored, { isUndone: true });
  const { snapshot, skipped, skippedCount } = stored;
  return { snapshot, skipped, skippedCount };
}

/** @param result Of a step with {@linkcode keepUndone}. Those of earlier versions are the snapshot's id. */
export const writtenOf = (result: unknown): Written | null =>
  typeof result === "string"
    ? { snapshot: result, skipped: [], skippedCount: 0 }
    : result as Written | undefined ?? null;

/** Says what a snapshot lacks; empty if it has all. */
export function withoutText({ skippedCount = 0 }: Partial<Written>): string {
  if (skippedCount === 0) return "";
  const files = skippedCount === 1 ? "1 file" : `${skippedCount} files`;
  return `, without ${files} that cannot be stored`;
}

/**
 * Empties volumes and gives them what a snapshot has, after all of it was read: what is there is not
 * given away for what cannot come. A target that is away is tried again; also one that stays locked, if
 * the volumes have a part only.
 *
 * @param options.stop Called before the first change of each attempt; it must stop what may write to the
 * volumes.
 * @param options.begin Called then.
 * @param options.hasBegun Whether the volumes have a part only.
 * @throws {AppError} As `checkBefore()`, with nothing changed, and as `writeParts()`. The volumes may have
 * a part then.
 */
export async function putPartsBack(
  deps: Deps,
  { targetId, snapshot, parts, images, containers }: UsedParts & {
    targetId: string;
    snapshot: string;
  },
  { job, stop, begin, hasBegun }: {
    job: Pick<JobRun, "signal" | "progress">;
    stop(): Promise<void>;
    begin(): Promise<unknown>;
    hasBegun(): boolean;
  },
): Promise<void> {
  const request = {
    snapshot,
    parts: parts.map(restoredPart),
    files: null,
    emptiedWith: images,
    begin,
  };
  const isTemporary = (error: unknown) => isAway(error) || hasBegun() && isLocked(error);
  await untilAnswered(async () => {
    using opened = await openTargetRepository(deps, targetId, job.signal);
    await checkBefore(opened.repository, request, job);
    await stop();
    const write = () => writeParts(deps, opened.repository, request, job);
    await withoutValuesOf(deps.engine, containers, write);
  }, { signal: job.signal, isTemporary });
}

/**
 * Repeats work with a target that is away, for ten minutes: after a restart of the host, it may answer
 * later than the engine.
 *
 * @param options.isTemporary Default: whether the target is away.
 */
export async function untilAnswered<Value>(
  work: () => Promise<Value>,
  { signal, isTemporary = isAway }: {
    signal: AbortSignal;
    isTemporary?: (error: unknown) => boolean;
  },
): Promise<Value> {
  for (let attempts = 1;; attempts++) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error) || attempts === ATTEMPTS_MAX) throw error;
      await sleep(ATTEMPT_MS, signal);
    }
  }
}

/** A share that is not mounted yet is an empty directory, without a repository. */
const isAway = (error: unknown): boolean =>
  error instanceof AppError && error.code === "bad_gateway" || hasReason(error, "absent");

const isLocked = (error: unknown): boolean => hasReason(error, "locked");

const hasReason = (error: unknown, reason: RepositoryReason): boolean =>
  error instanceof AppError && error.cause instanceof RepositoryError &&
  error.cause.reason === reason;
