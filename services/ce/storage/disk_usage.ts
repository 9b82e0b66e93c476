/**
 * What the engine's things occupy on the disk. The engine walks its whole storage for this, which
 * takes up to minutes: it is asked only when somebody wants to know, by one request at a time, and
 * the answer is kept for a while.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import { EngineError } from "../../../engine/errors.ts";
import { type DiskUsage, type DiskUsagePart, systemDiskUsage } from "../../../engine/system.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

/** Sizes are bytes. */
export interface DiskBreakdown {
  containers: DiskUsagePart;
  images: DiskUsagePart;
  volumes: DiskUsagePart;
  buildCache: DiskUsagePart;
  totalSize: number;
  /** ISO 8601, UTC. */
  computedAt: string;
}

export type UsageDeps = Pick<Deps, "engine" | "now">;

/** How long an answer counts as current, in milliseconds. */
const CURRENT_MS = 60_000;

/** How long the sizes of single volumes are shown, in milliseconds. */
const VOLUME_SIZES_MS = 60 * 60_000;

/** How long a request waits for the engine to compute, in milliseconds. */
const WAIT_MS = 60_000;

/** How often an engine that computes for somebody else is asked again, in milliseconds. */
const BUSY_RETRY_MS = 250;

interface Known {
  usage: DiskUsage;
  at: Date;
  /** Whether something was removed since it was asked for. */
  outdated: boolean;
}

interface Board {
  known: Known | undefined;
  computing: Promise<void> | undefined;
  /** Counts what makes answers outdated. */
  changes: number;
}

const boards = new WeakMap<Engine, Board>();

function boardOf(engine: Engine): Board {
  let board = boards.get(engine);
  if (!board) boards.set(engine, board = { known: undefined, computing: undefined, changes: 0 });
  return board;
}

/**
 * The disk use by kind, at most a minute old.
 *
 * When the engine does not get done in `waitMs`, the last answer is given, whatever its age; the
 * engine goes on computing for the next who asks.
 *
 * @throws {AppError} `unavailable` when there is no answer yet.
 */
export async function diskBreakdown(
  deps: UsageDeps,
  { waitMs = WAIT_MS }: { waitMs?: number } = {},
): Promise<DiskBreakdown> {
  const { known } = await currentUsage(deps, waitMs);
  if (known) return asBreakdown(known);
  throw new AppError(
    "unavailable",
    "The engine is still computing its disk usage; ask again later",
  );
}

/** The disk use, at most a minute old; `undefined` when the engine does not finish in time. */
export async function currentDiskUsage(deps: UsageDeps): Promise<DiskUsage | undefined> {
  return (await currentUsage(deps, WAIT_MS)).known?.usage;
}

/** Says that something was removed, so that the next who asks gets a new answer. */
export function forgetDiskUsage({ engine }: Pick<Deps, "engine">): void {
  const board = boardOf(engine);
  board.changes++;
  if (board.known) board.known.outdated = true;
}

/** Bytes of each volume by name, as far as they are known from an answer of the last hour. */
export function knownVolumeSizes({ engine, now }: UsageDeps): Map<string, number> {
  const { known } = boardOf(engine);
  if (!known || now().getTime() - known.at.getTime() > VOLUME_SIZES_MS) return new Map();
  const sized = known.usage.volumes.items.filter(({ size }) => size >= 0);
  return new Map(sized.map(({ name, size }) => [name, size]));
}

async function currentUsage({ engine, now }: UsageDeps, waitMs: number): Promise<Board> {
  const board = boardOf(engine);
  const isCurrent = () =>
    board.known && !board.known.outdated &&
    now().getTime() - board.known.at.getTime() <= CURRENT_MS;
  const end = performance.now() + waitMs;

  while (!isCurrent() && performance.now() < end) {
    board.computing ??= compute(engine, board, now).finally(() => board.computing = undefined);
    await withDeadline(board.computing, end - performance.now());
  }
  return board;
}

async function compute(engine: Engine, board: Board, now: () => Date): Promise<void> {
  const { changes } = board;
  const usage = await askUntilFree(engine);
  board.known = { usage, at: now(), outdated: changes !== board.changes };
}

/** Some engines compute for one at a time, and refuse the others instead of letting them wait. */
async function askUntilFree(engine: Engine): Promise<DiskUsage> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await systemDiskUsage(engine);
    } catch (error) {
      const isBusy = error instanceof EngineError && /already running/i.test(error.message);
      if (!isBusy || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
    }
  }
}

function asBreakdown({ usage, at }: Known): DiskBreakdown {
  const { containers, images, volumes: { count, size }, buildCache } = usage;
  return {
    containers,
    images,
    volumes: { count, size },
    buildCache: { count: buildCache.count, size: buildCache.size },
    totalSize: containers.size + images.size + size + buildCache.size,
    computedAt: at.toISOString(),
  };
}
