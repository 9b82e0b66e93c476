/** Snapshots in a repository, as the API shows them. @module */

import type { Snapshot } from "../backup/restic/snapshot.ts";
import { nodeOs } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { type OpenedTarget, openTargetRepository, translated } from "./repositories.ts";
import { readTags } from "./tags.ts";

/** Longest wait for a target, in milliseconds. */
const TARGET_MS = 60_000;

export interface SnapshotView {
  id: string;
  /** ISO 8601, UTC. */
  time: string;
  hostname: string;
  /** Whether this host made it. */
  isOwn: boolean;
  stack: string | null;
  /** Names. */
  volumes: string[];
  /** On the host. */
  directories: string[];
  reason: string | null;
  note: string | null;
  tags: string[];
  /** Name of the target. */
  target: string;
}

/**
 * The snapshots at a target, newest first.
 *
 * @throws {AppError} `not_found` for an unknown target; `conflict`; `bad_gateway`.
 */
export async function listSnapshots(
  deps: Deps,
  { target: ref, stack, limit }: {
    target?: string | undefined;
    stack?: string | undefined;
    limit: number;
  },
): Promise<{ snapshots: SnapshotView[]; total: number }> {
  const signal = AbortSignal.timeout(TARGET_MS);
  using opened = await openTargetRepository(deps, ref, signal);
  const all = await translated(() => opened.repository.snapshots(signal));
  const views = all.map((each) => viewOf(opened, each))
    .filter((view) => stack === undefined || view.stack === stack).reverse();
  return { snapshots: views.slice(0, limit), total: views.length };
}

/** @throws {AppError} `not_found`; `conflict`; `bad_gateway`. */
export async function getSnapshot(
  deps: Deps,
  id: string,
  { target }: { target?: string | undefined },
): Promise<SnapshotView> {
  using opened = await openSnapshot(deps, id, target);
  return viewOf(opened, opened.snapshot);
}

/**
 * Opens a repository, and finds a snapshot by its id or the beginning of it.
 *
 * @throws {AppError} `not_found`; `conflict`; `bad_gateway`.
 */
export async function openSnapshot(
  deps: Deps,
  id: string,
  target: string | undefined,
): Promise<OpenedTarget & { snapshot: Snapshot }> {
  const signal = AbortSignal.timeout(TARGET_MS);
  const opened = await openTargetRepository(deps, target, signal);
  try {
    const snapshot = await translated(() => opened.repository.snapshot(id, signal));
    return { ...opened, snapshot };
  } catch (error) {
    opened[Symbol.dispose]();
    throw error;
  }
}

/**
 * Removes a snapshot; its data stays until the repository is pruned.
 *
 * @throws {AppError} `forbidden` for one of another host; `not_found`; `conflict`; `bad_gateway`.
 */
export async function deleteSnapshot(
  deps: Deps,
  id: string,
  { target }: { target?: string | undefined },
): Promise<void> {
  using opened = await openSnapshot(deps, id, target);
  const { repository, snapshot } = opened;
  if (!isOfThisHost(snapshot)) {
    throw new AppError("forbidden", `Host ${snapshot.hostname} has made it; delete it there`);
  }
  const signal = AbortSignal.timeout(TARGET_MS);
  await translated(() => repository.removeSnapshots([snapshot.id], signal));
}

const isOfThisHost = ({ hostname, tags }: Snapshot): boolean =>
  hostname === nodeOs().hostname() && readTags({ tags }).isLongshore;

function viewOf({ target }: OpenedTarget, snapshot: Snapshot): SnapshotView {
  const { id, time, hostname, paths, tags } = snapshot;
  const { stack, reason, note } = readTags(snapshot);
  const below = (directory: string) =>
    paths.filter((path) => path.startsWith(directory)).map((path) => path.slice(directory.length));
  return {
    id,
    time: new Date(time).toISOString(),
    hostname,
    isOwn: isOfThisHost(snapshot),
    stack,
    volumes: below("/volumes/"),
    directories: below("/directories"),
    reason,
    note,
    tags,
    target: target.name,
  };
}
