/** Snapshots in a repository, as the API shows them. @module */

import type { Snapshot } from "../backup/restic/snapshot.ts";
import { selectBackupTargets, type StoredTarget } from "../../db/backup_targets.ts";
import { type LastBackup, selectLastStackBackups } from "../../db/last_backups.ts";
import { nodeOs } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { AppError, messageFor } from "../errors.ts";
import { assertIdle } from "../backup/targets/needed.ts";
import { type OpenedTarget, openTargetRepository } from "../backup/targets/open.ts";
import { translated } from "../backup/targets/repository.ts";
import { isOfThisHost, readTags } from "../backup/trees/tags.ts";
import { isOwnBackup } from "./own/content.ts";
import { stackIn } from "./read_description.ts";

/** Longest wait for a target, in milliseconds. */
const TARGET_MS = 60_000;

export interface SnapshotView {
  id: string;
  /** ISO 8601, UTC. */
  time: string;
  hostname: string;
  /** Whether this host made it. */
  isOwn: boolean;
  /** Also of what an update has kept: volumes of the stack. */
  stack: string | null;
  /** Stacks of this host whose last backup it is, also one from before they moved here. */
  lastBackupOf: string[];
  /** Whether the stack itself can be restored and tried out, not only volumes. */
  hasStack: boolean;
  /** Names. */
  volumes: string[];
  /** On the host. */
  directories: string[];
  /** Whether it is a backup of Longshore itself. */
  hasLongshore: boolean;
  reason: string | null;
  note: string | null;
  tags: string[];
  /** Name of the target. */
  target: string;
  /** Of its files, in bytes; `null` if it does not say so. */
  size: number | null;
}

/** A target that a list was read from. */
export interface ReadTarget {
  name: string;
  isDefault: boolean;
  /** Why its snapshots are not in the list. */
  error: string | null;
}

export interface SnapshotList {
  snapshots: SnapshotView[];
  total: number;
  targets: ReadTarget[];
}

/**
 * The snapshots at a target, or at all of them, newest first.
 *
 * @throws {AppError} Unless `allTargets`: `not_found` for an unknown target; `conflict`;
 * `bad_gateway`.
 */
export async function listSnapshots(
  deps: Deps,
  { target: ref, allTargets, stack, limit }: {
    target?: string | undefined;
    allTargets: boolean;
    stack?: string | undefined;
    limit: number;
  },
): Promise<SnapshotList> {
  // Before the first backup there is none to read.
  if (ref === undefined && selectBackupTargets(deps.db).length === 0) {
    return { snapshots: [], total: 0, targets: [] };
  }
  const lists = allTargets
    ? await Promise.all(selectBackupTargets(deps.db).map((target) => tryToRead(deps, target)))
    : [await readTarget(deps, ref)];
  const views = lists.flatMap(({ snapshots }) => snapshots)
    .filter((view) =>
      stack === undefined || view.stack === stack || view.lastBackupOf.includes(stack)
    )
    .sort((one, other) => one.time < other.time ? 1 : -1);
  return {
    snapshots: views.slice(0, limit),
    total: views.length,
    targets: lists.map(({ target }) => target),
  };
}

interface TargetList {
  target: ReadTarget;
  snapshots: SnapshotView[];
}

async function readTarget(deps: Deps, ref: string | undefined): Promise<TargetList> {
  const signal = AbortSignal.timeout(TARGET_MS);
  using opened = await openTargetRepository(deps, ref, signal);
  const { target: { name, isDefault } } = opened;
  const all = await translated(() => opened.repository.snapshots(signal));
  const last = selectLastStackBackups(deps.db);
  return {
    target: { name, isDefault, error: null },
    snapshots: all.map((each) => viewOf(deps, opened, each, last)),
  };
}

/** A target that does not answer must not hide the snapshots of the others. */
async function tryToRead(deps: Deps, { id, name, isDefault }: StoredTarget): Promise<TargetList> {
  try {
    return await readTarget(deps, id);
  } catch (error) {
    const reason = messageFor(deps.log, error, "snapshots not listed", { target: name });
    return { target: { name, isDefault, error: reason }, snapshots: [] };
  }
}

/** @throws {AppError} `not_found`; `conflict`; `bad_gateway`. */
export async function getSnapshot(
  deps: Deps,
  id: string,
  { target }: { target?: string | undefined },
): Promise<SnapshotView> {
  using opened = await openSnapshot(deps, id, target);
  return viewOf(deps, opened, opened.snapshot, selectLastStackBackups(deps.db));
}

/** A snapshot in its repository. */
export type OpenedSnapshot = OpenedTarget & { snapshot: Snapshot };

/**
 * Opens a repository, and finds a snapshot by its id or the beginning of it.
 *
 * @throws {AppError} `not_found`; `conflict`; `bad_gateway`.
 */
export async function openSnapshot(
  deps: Deps,
  id: string,
  target: string | undefined,
): Promise<OpenedSnapshot> {
  const signal = AbortSignal.timeout(TARGET_MS);
  const opened = await openTargetRepository(deps, target, signal);
  try {
    const snapshot = await translated(() => opened.repository.snapshot(id, signal));
    return { ...opened, snapshot };
  } catch (error) {
    opened[Symbol.dispose]();
    if (error instanceof AppError && error.code === "not_found") {
      throw new AppError("not_found", `${error.message} at target ${opened.target.name}`);
    }
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
  if (!isOfThisHost(deps, snapshot)) {
    const maker = [nodeOs().hostname(), deps.server.name].includes(snapshot.hostname)
      ? "Another program or server"
      : `Host ${snapshot.hostname}`;
    throw new AppError("forbidden", `${maker} has made it; delete it there`);
  }
  // A job may still need what it has kept.
  assertIdle(deps, opened.target.id);
  const signal = AbortSignal.timeout(TARGET_MS);
  await translated(() => repository.removeSnapshots([snapshot.id], signal));
}

function viewOf(
  deps: Pick<Deps, "server">,
  { target }: OpenedTarget,
  snapshot: Snapshot,
  last: readonly LastBackup[],
): SnapshotView {
  const { id, time, hostname, paths, tags, summary } = snapshot;
  const { stack, reason, note } = readTags(snapshot);
  const below = (directory: string) =>
    paths.filter((path) => path.startsWith(directory)).map((path) => path.slice(directory.length));
  return {
    id,
    time: new Date(time).toISOString(),
    hostname,
    isOwn: isOfThisHost(deps, snapshot),
    stack,
    lastBackupOf: last
      .filter((each) => each.snapshot === id && each.targetId === target.id)
      .map((each) => each.stack!),
    hasStack: stackIn(snapshot) !== undefined,
    volumes: below("/volumes/"),
    directories: below("/directories"),
    hasLongshore: isOwnBackup(snapshot),
    reason,
    note,
    tags,
    target: target.name,
    size: summary?.bytes ?? null,
  };
}
