/** Plan of an update that can bring data back: what it keeps, and what stands in the way. @module */

import { selectBackupTargets, selectDefaultBackupTarget } from "../../../db/backup_targets.ts";
import type { KeptData } from "../../../db/updates/previous.ts";
import { openTargetRepository, targetForSnapshot } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { openTarget } from "../../backup/targets/targets.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { isOfThisHost } from "../../backup/trees/tags.ts";
import { volumePart } from "../../backup/trees/part.ts";
import { sizesOf, usersOfAll } from "../../backup/volumes/users.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import { findWritingImages, writingImages } from "../../backup/volumes/writing_images.ts";
import type { Container } from "../../containers/inventory.ts";
import { asContainer, type ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type DataChoice, labelsOfImage, updatePolicy } from "../labels.ts";
import type { UndoneData, UpdateInput } from "../run/job.ts";
import type { Obstacle, Survey } from "../run/survey.ts";
import { readUpdateSettings } from "../settings.ts";
import { describeElsewhere, findElsewhere } from "./elsewhere.ts";

/** Longest wait for a helper image, for a target, and for the sizes of volumes, in milliseconds. */
const LOOK_MS = 30_000;
const TARGET_MS = 60_000;
const SIZES_MS = 2_000;

export interface UndoPlan {
  /** Name of the target; `null` for the first one, which the update creates. */
  target: string | null;
  volumes: UndoneVolume[];
  /** Sentences about data that a failure does not bring back. */
  warnings: string[];
  obstacles: Obstacle[];
}

interface UndoneVolume {
  name: string;
  /** In bytes; `null` if the engine does not know it. */
  size: number | null;
}

/** The containers that an update stops. */
type Updated = Pick<Survey, "old" | "oldImage" | "dependents" | "all">;

/** The choice of a request, else that of the container's labels, else that of the settings. */
export const dataChoice = (
  deps: Pick<Deps, "config" | "db">,
  { old, oldImage }: Pick<Survey, "old" | "oldImage">,
  requested: DataChoice | undefined,
): DataChoice =>
  requested ?? updatePolicy(old.Config.Labels ?? {}, labelsOfImage(oldImage)).data ??
    readUpdateSettings(deps).data;

export const updatedOf = (deps: ReadDeps, { old, dependents }: Updated): Container[] =>
  [old, ...dependents].map((each) => asContainer(deps, each));

/** The volumes that the containers write to, by name. */
export const volumesOf = (updated: readonly Container[]): string[] =>
  [
    ...new Set(updated.flatMap(({ details: { mounts } }) =>
      mounts.flatMap(({ type, name, readOnly }) => type === "volume" && !readOnly ? name ?? [] : [])
    )),
  ].sort();

/**
 * Says what updates with `undo` would keep, and what they could not.
 *
 * @param surveys Of containers that are updated one after another.
 */
export async function planUndo(deps: Deps, surveys: readonly Updated[]): Promise<UndoPlan> {
  const groups = surveys.map((survey) => updatedOf(deps, survey));
  const all = groups.flat();
  const names = volumesOf(all);
  const warnings = [
    ...directoriesOf(all),
    ...findElsewhere(all, surveys[0]?.all ?? []).map(describeElsewhere),
  ];
  if (names.length === 0) return { target: null, volumes: [], warnings, obstacles: [] };
  const sizes = await sizesOf(deps, { waitMs: SIZES_MS });
  const volumes = names.map((name) => ({ name, size: sizes.get(name) ?? null }));
  const obstacles: Obstacle[] = [];
  for (const group of groups) obstacles.push(...await groupObstacles(deps, group));
  const hasTarget = selectBackupTargets(deps.db).length > 0;
  if (hasTarget) obstacles.push(...await targetObstacles(deps, volumes));
  const target = selectDefaultBackupTarget(deps.db)?.name ?? null;
  return { target, volumes, warnings, obstacles };
}

/** @param updated Containers that are stopped at the same time. */
async function groupObstacles(deps: Deps, updated: readonly Container[]): Promise<Obstacle[]> {
  const names = volumesOf(updated);
  if (names.length === 0) return [];
  const signal = AbortSignal.timeout(LOOK_MS);
  return [
    ...await obstacleOf(() => assertNotShared(deps, names, updated.map(({ id }) => id))),
    ...await obstacleOf(() =>
      withoutValuesOf(deps.engine, updated, () => findImages(deps, names, updated, signal))
    ),
  ];
}

const findImages = (
  deps: Deps,
  volumes: readonly string[],
  updated: readonly Container[],
  signal: AbortSignal,
) =>
  findWritingImages(
    deps,
    volumes.map((name) => volumePart(name).mount),
    writingImages(updated),
    signal,
  );

/** A container may have put a link into a directory of the host, so that only volumes are emptied. */
const directoriesOf = (updated: readonly Container[]): string[] =>
  updated.flatMap(({ name, details: { mounts } }) =>
    mounts.filter(({ type, readOnly }) => type === "bind" && !readOnly)
      .map(({ source }) => `Directory ${source} of ${name} is not brought back`)
  );

/**
 * A volume is not brought back while another container may write to it.
 *
 * @param own Ids of the containers that the update stops.
 * @throws {AppError} `conflict` with the others.
 */
export async function assertNotShared(
  deps: ReadDeps,
  volumes: readonly string[],
  own: readonly string[],
): Promise<void> {
  const users = await usersOfAll(deps, volumes.map((name) => volumePart(name).mount));
  const others = users.filter(({ container, isReadOnly }) =>
    !isReadOnly && !container.self && !own.includes(container.id)
  );
  if (others.length === 0) return;
  const messages = others.map(({ container, source }) =>
    `${container.name} uses volume ${source}, too`
  );
  throw new AppError("conflict", messages.join("; "));
}

async function targetObstacles(
  deps: Deps,
  volumes: readonly UndoneVolume[],
): Promise<Obstacle[]> {
  const signal = AbortSignal.timeout(TARGET_MS);
  const obstacles: Obstacle[] = [];
  const refusals = await obstacleOf(async () => {
    using opened = await openTargetRepository(deps, undefined, signal);
    const { storage } = await openTarget(deps, opened.target.id);
    const room = await storage.room?.(signal);
    const known = await translated(() => opened.repository.snapshots(signal));
    const needed = neededBytes(volumes, known);
    if (room === undefined || room >= needed) return;
    const message = `The data may need ${Math.ceil(needed / 1e6)} MB, and the target has less`;
    obstacles.push({ message, canForce: true });
  });
  return [...refusals, ...obstacles];
}

/** Size of the volumes, without what an earlier snapshot of them is expected to share. */
function neededBytes(volumes: readonly UndoneVolume[], known: readonly Snapshot[]): number {
  const paths = volumes.map(({ name }) => volumePart(name).path);
  const shared = known
    .filter((each) => isOfThisHost(each) && paths.every((path) => each.paths.includes(path)))
    .map(({ summary }) => summary?.bytes ?? 0);
  const size = volumes.reduce((sum, each) => sum + (each.size ?? 0), 0);
  return size - shared.reduce((most, bytes) => Math.max(most, bytes), 0);
}

/** The refusal of a check as an obstacle. */
async function obstacleOf(check: () => Promise<unknown>): Promise<Obstacle[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const message = `The data could not be brought back (data: undo): ${error.message}`;
    return [{ message, canForce: false }];
  }
}

/** Target for the data of an update, as part of its input. */
interface UndoInput {
  targetId: string;
  /** Name of the target. */
  place: string;
}

/**
 * Decides where updates keep data.
 *
 * @param surveys As for {@linkcode planUndo}.
 * @returns `undefined` if the containers write to no volumes.
 * @throws {AppError} `conflict` with everything for which data could not be brought back.
 */
export async function prepareUndo(
  deps: Deps,
  surveys: readonly Updated[],
  { force }: { force: boolean },
): Promise<UndoInput | undefined> {
  const { volumes, obstacles } = await planUndo(deps, surveys);
  const left = obstacles.filter(({ canForce }) => !(force && canForce));
  if (left.length > 0) {
    throw new AppError("conflict", left.map(({ message }) => message).join("; "));
  }
  if (volumes.length === 0) return undefined;
  const { id, name } = await targetForSnapshot(deps, undefined);
  return { targetId: id, place: name };
}

/**
 * Decides where a rollback that brings data back keeps what was written since: at the target of that.
 *
 * @throws {AppError} `conflict` for data that cannot be brought back.
 */
export async function prepareRestored(
  deps: Deps,
  survey: Updated,
  restored: KeptData,
): Promise<UndoInput & { restored: KeptData }> {
  await assertRestorable(deps, survey, restored);
  return { targetId: restored.targetId, place: restored.place, restored };
}

async function assertRestorable(
  deps: Deps,
  survey: Updated,
  restored: KeptData,
): Promise<void> {
  const { targetId, snapshot } = restored;
  const updated = updatedOf(deps, survey);
  assertUsed(updated, restored);
  await assertNotShared(deps, volumesOf(updated), updated.map(({ id }) => id));
  await findImages(deps, restored.volumes, updated, AbortSignal.timeout(LOOK_MS));
  const signal = AbortSignal.timeout(TARGET_MS);
  using opened = await openTargetRepository(deps, targetId, signal);
  await translated(() => opened.repository.snapshot(snapshot, signal));
}

/**
 * The volumes that an update keeps, read again when its job begins.
 *
 * @throws {AppError} `conflict` if another container has come to use one, or if one whose earlier data
 * is brought back is not used any more.
 */
export async function planUndone(
  deps: Deps,
  survey: Updated,
  { replaced = [], restored }: Pick<UpdateInput, "replaced" | "restored">,
): Promise<UndoneData> {
  const updated = updatedOf(deps, survey);
  const volumes = volumesOf(updated);
  if (restored) assertUsed(updated, restored);
  await assertNotShared(deps, volumes, [...updated.map(({ id }) => id), ...replaced]);
  return { volumes, images: writingImages(updated), stack: updated[0]!.composeProject };
}

function assertUsed(updated: readonly Container[], { volumes }: KeptData): void {
  const used = volumesOf(updated);
  const unused = volumes.find((name) => !used.includes(name));
  if (unused === undefined) return;
  throw new AppError("conflict", `${updated[0]!.name} does not use volume ${unused} any more`);
}
