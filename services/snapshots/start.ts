/** Starts snapshots. @module */

import { selectBackupModes } from "../../db/backup_modes.ts";
import { countBackupTargets } from "../../db/backup_targets.ts";
import { findVolume } from "../../engine/volumes.ts";
import type { Holder } from "../access/shares.ts";
import { targetForSnapshot } from "../backup/targets/open.ts";
import type { Reason } from "../backup/trees/tags.ts";
import type { Container } from "../containers/inventory.ts";
import { affectedBy, identityOf } from "../containers/reserve.ts";
import { currentContainers } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { AppError, InputError, notFound } from "../errors.ts";
import { startJob } from "../jobs/runner.ts";
import type { JobView } from "../jobs/view.ts";
import {
  type Contents,
  contentsOfStack,
  contentsOfVolumes,
  stoppedFor,
  writersOf,
} from "./contents.ts";
import { type Estimate, estimateSnapshot } from "./estimate.ts";
import { assertRoom } from "./target_room.ts";
import { snapshotKind } from "./kinds.ts";
import { withImageLabels } from "./labels.ts";
import { assertStoppable } from "../containers/stoppable.ts";
import { assertRoomForImages } from "./saved_images.ts";
import { defaultMode, type Mode } from "./modes.ts";

export interface SnapshotRequest {
  /** Either a stack or volumes. */
  stack?: string | undefined;
  volumes?: string[] | undefined;
  /** Id or name; default: the default target. */
  target?: string | undefined;
  mode?: Mode | undefined;
  note?: string | undefined;
  /** Whether the images of a stack's containers are stored, too. */
  withImages?: boolean | undefined;
  /** Whether all containers of the stack stay stopped afterwards, e.g. because it moves. */
  keepStopped?: boolean | undefined;
  /** Whether containers of other stacks that use the volumes may be stopped, too. */
  includeSharedUsers: boolean;
}

/** Longest target of a job, in characters. */
const TARGET_MAX = 512;

/**
 * Starts a snapshot.
 *
 * @throws {AppError} `invalid` unless exactly one of stack and volumes is given; `not_found` for an
 * unknown stack or target; `conflict` if there is nothing to back up, if other containers use the
 * volumes, if the target has too little room, and while another action is in progress; `forbidden`
 * for the volume with the service's own data.
 */
export async function startSnapshot(
  deps: Deps,
  caller: Holder,
  request: SnapshotRequest,
  reason: Reason = "manual",
): Promise<JobView> {
  const { stack, volumes, note, includeSharedUsers } = request;
  const { withImages = false, keepStopped = false } = request;
  assertOptions(request);
  const contents = await readContents(deps, request);
  if (!includeSharedUsers) assertNotShared(contents);
  const target = await targetForSnapshot(deps, request.target);
  if (withImages) await assertRoomForImages(deps, target, contents);
  const writers = keepStopped ? stoppedFor(contents) : writersOf(contents);
  const mode = keepStopped ? "stop" : request.mode ?? await modeOf(deps, request, writers);
  const all = await currentContainers(deps);
  const isHeld = mode === "stop" || mode === "pause";
  if (mode === "stop") await assertStoppable(deps, writers);
  const name = nameOf(request);
  const estimate = await estimateSnapshot(deps, contents, { name, targetId: target.id });
  assertRoom(estimate, target.name);
  return startJob(deps, snapshotKind, {
    target: name,
    input: {
      stack: stack ?? null,
      volumes: volumes ?? null,
      targetId: target.id,
      place: target.name,
      ...target.isNew && { hasNewTarget: true },
      mode,
      withImages,
      keepStopped,
      reason,
      note: note ?? null,
      size: estimate.size,
      sqlite: estimate.sqlite ?? [],
      affected: writers.flatMap((each) => [
        identityOf(each),
        ...(isHeld ? affectedBy(each, all) : []),
      ]),
      read: contents.parts.map(({ path }) => ({ id: path, name: path })),
    },
    caller,
  }).job;
}

/** By the labels of the containers, else by the setting of the stack. */
async function modeOf(
  deps: Deps,
  { stack }: Pick<SnapshotRequest, "stack">,
  writers: readonly Container[],
): Promise<Mode> {
  const setting = stack === undefined ? undefined : selectBackupModes(deps.db).get(stack);
  return defaultMode(await withImageLabels(deps, writers), setting);
}

/** An estimate, with the mode of a snapshot without one, and what it will not have. */
interface EstimateView extends Estimate {
  mode: Mode;
  leftOut: string[];
}

/**
 * Estimates a snapshot. Before the first target exists, the room is unknown.
 *
 * @throws {AppError} As {@linkcode startSnapshot}.
 */
export async function readEstimate(
  deps: Deps,
  request: Pick<SnapshotRequest, "stack" | "volumes" | "target">,
): Promise<EstimateView> {
  const contents = await readContents(deps, request, "query");
  const isFirst = request.target === undefined && countBackupTargets(deps.db) === 0;
  const targetId = isFirst ? "" : (await targetForSnapshot(deps, request.target)).id;
  const estimate = await estimateSnapshot(deps, contents, { name: nameOf(request), targetId });
  const mode = await modeOf(deps, request, writersOf(contents));
  return { ...estimate, mode, leftOut: contents.leftOut };
}

const nameOf = ({ stack, volumes }: Pick<SnapshotRequest, "stack" | "volumes">): string =>
  (stack ?? volumes!.join(", ")).slice(0, TARGET_MAX);

/** @throws {InputError} For options of stacks with volumes, and another mode than `keepStopped` needs. */
function assertOptions(
  { stack, mode, withImages = false, keepStopped = false }: SnapshotRequest,
): void {
  for (const [name, isGiven] of Object.entries({ withImages, keepStopped })) {
    if (!isGiven || stack !== undefined) continue;
    throw new InputError([{ path: `body.${name}`, message: "is for stacks only" }]);
  }
  if (keepStopped && (mode ?? "stop") !== "stop") {
    throw new InputError([{ path: "body.mode", message: "must be stop with keepStopped" }]);
  }
}

async function readContents(
  deps: Deps,
  { stack, volumes }: Pick<SnapshotRequest, "stack" | "volumes">,
  path: "body" | "query" = "body",
): Promise<Contents> {
  if ((stack === undefined) === (volumes === undefined)) {
    throw new InputError([{ path, message: "needs either stack or volumes" }]);
  }
  if (stack !== undefined) return await contentsOfStack(deps, stack);
  await assertVolumes(deps, volumes!);
  return await contentsOfVolumes(deps, volumes!);
}

/** @throws {AppError} `not_found` for the first one that does not exist. */
export async function assertVolumes(
  { engine }: Pick<Deps, "engine">,
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    if (!await findVolume(engine, name)) throw notFound("Volume", name);
  }
}

/** A volume that another stack writes to is as it should be only if that one is stopped, too. */
function assertNotShared({ shared }: Contents): void {
  if (shared.length === 0) return;
  const uses = shared.map(({ part, container }) => `${container.name} uses ${part}`);
  throw new AppError(
    "conflict",
    `Other containers use what is backed up: ${uses.join(", ")}; include them (includeSharedUsers)`,
  );
}
