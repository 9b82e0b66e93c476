/** Starts drills. @module */

import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { type OpenedTarget, openTargetRepository } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { isMadeHere, readTags } from "../../backup/trees/tags.ts";
import { stackIn } from "../read_description.ts";
import { drillKind } from "./kinds.ts";

export interface DrillRequest {
  stack: string;
  /** Id or the beginning of it; default: the newest one of the stack, of this host if it has any. */
  snapshot?: string | undefined;
  /** Id or name; default: the default target. */
  target?: string | undefined;
  stableSeconds?: number | undefined;
}

/** Seconds that a container without a health check must stay up. */
const STABLE_S = 10;

/** Longest search for the snapshot, in milliseconds. */
const SEARCH_MS = 60_000;

/**
 * Starts a drill: a snapshot is restored into new volumes, its containers are started on them in a
 * private network and judged, and everything is removed again.
 *
 * @param caller Default: a schedule.
 * @throws {AppError} `not_found` for an unknown target, and without a snapshot; `conflict` while
 * another job works on the stack; `bad_gateway` if the target fails.
 */
export async function startDrill(
  deps: Deps,
  { stack, snapshot: ref, target: place, stableSeconds = STABLE_S }: DrillRequest,
  caller: Holder = { userId: "schedule" },
): Promise<JobView> {
  const signal = AbortSignal.timeout(SEARCH_MS);
  using opened = await openTargetRepository(deps, place, signal);
  const snapshot = await findSnapshot(deps, opened, stack, ref, signal);
  const { target } = opened;
  return startJob(deps, drillKind, {
    target: stack,
    input: { targetId: target.id, place: target.name, snapshot: snapshot.id, stableSeconds },
    caller,
  }).job;
}

async function findSnapshot(
  deps: Pick<Deps, "server">,
  { repository, target }: OpenedTarget,
  stack: string,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  if (ref !== undefined) {
    const found = await translated(() => repository.snapshot(ref, signal));
    if (stackIn(found) === stack) return found;
    throw new AppError("not_found", `Snapshot ${ref} is not one of stack ${stack}`);
  }
  const newest = newestOf(deps, stack, await translated(() => repository.snapshots(signal)));
  if (newest) return newest;
  throw new AppError("not_found", `Stack ${stack} has no snapshot at ${target.name}`);
}

/**
 * Returns the newest backup of a stack, of this host if it has any. What a restore has replaced is tried
 * out only without a backup: it may be what was broken. Those that updates make of its volumes have its
 * tag as well, and cannot be tried out.
 *
 * @param snapshots Oldest first.
 */
export function newestOf(
  deps: Pick<Deps, "server">,
  stack: string,
  snapshots: readonly Snapshot[],
): Snapshot | undefined {
  const all = snapshots.filter((each) => stackIn(each) === stack);
  const backups = all.filter((each) => readTags(each).reason !== "undo");
  const candidates = backups.length > 0 ? backups : all;
  return candidates.findLast((each) => isMadeHere(deps, each)) ?? candidates.at(-1);
}
