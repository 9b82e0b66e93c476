/** Plan of an update that can bring data back: what it keeps, and what stands in the way. @module */

import { selectBackupTargets, selectDefaultBackupTarget } from "../../../db/backup_targets.ts";
import { openTargetRepository, targetForSnapshot } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { openTarget } from "../../backup/targets/targets.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { isOfThisHost } from "../../backup/trees/tags.ts";
import { volumePart } from "../../backup/trees/part.ts";
import { assertNotOwn } from "../../backup/volumes/own_data.ts";
import { sizesOf, usersOfAll } from "../../backup/volumes/users.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import {
  findWritingImages,
  type VolumeImage,
  writingImages,
} from "../../backup/volumes/writing_images.ts";
import type { Container } from "../../containers/inventory.ts";
import { asContainer, currentContainers, isUp, type ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type DataChoice, labelsOfImage, updatePolicy } from "../labels.ts";
import type { Obstacle, Survey } from "../run/survey.ts";
import { readUpdateSettings } from "../settings.ts";
import { describeElsewhere, findElsewhere } from "./elsewhere.ts";

/** Longest wait for a helper image, for a target, and for the sizes of volumes, in milliseconds. */
const LOOK_MS = 30_000;
export const TARGET_MS = 60_000;
const SIZES_MS = 2_000;

export interface UndoPlan {
  /** Name of the target; `null` for the first one, which the update creates. */
  target: string | null;
  volumes: UndoneVolume[];
  /** Days for which it is kept. */
  keptDays: number;
  /** Sentences about data that a failure does not bring back. */
  warnings: string[];
  obstacles: Obstacle[];
}

/** Data that is kept, to bring it back after a failure. */
export interface DataPlan extends Pick<UndoPlan, "target" | "volumes" | "keptDays"> {
  choice: DataChoice;
}

/** The part of a plan that is shown beside its warnings and obstacles. */
export const pickData = ({ target, volumes, keptDays }: UndoPlan) => ({
  target,
  volumes,
  keptDays,
});

interface UndoneVolume {
  name: string;
  /** In bytes; `null` if the engine does not know it. */
  size: number | null;
}

/** Containers that are stopped at the same time, and data that is kept meanwhile. */
export interface UndoGroup {
  stopped: readonly Container[];
  /** Names. */
  volumes: readonly string[];
  /** For helper containers. */
  images: readonly VolumeImage[];
}

/** The containers that an update stops. */
export type Updated = Pick<Survey, "old" | "oldImage" | "dependents" | "all">;

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

export const groupOf = (updated: readonly Container[]): UndoGroup => ({
  stopped: updated,
  volumes: volumesOf(updated),
  images: writingImages(updated),
});

/**
 * Says what updates with `undo` would keep, and what they could not.
 *
 * @param groups Stopped one after another.
 */
export async function planUndo(deps: Deps, groups: readonly UndoGroup[]): Promise<UndoPlan> {
  const stopped = groups.flatMap((group) => group.stopped);
  const names = [...new Set(groups.flatMap((group) => group.volumes))].sort();
  const warnings = [
    ...directoriesOf(stopped),
    ...findElsewhere(stopped, await currentContainers(deps)).map(describeElsewhere),
  ];
  const keptDays = readUpdateSettings(deps).keepPreviousDays;
  const none = { target: null, volumes: [], keptDays, warnings, obstacles: [] };
  if (names.length === 0) return none;
  const sizes = await sizesOf(deps, { waitMs: SIZES_MS });
  const volumes = names.map((name) => ({ name, size: sizes.get(name) ?? null }));
  const obstacles: Obstacle[] = [];
  for (const group of groups) obstacles.push(...await groupObstacles(deps, group));
  const hasTarget = selectBackupTargets(deps.db).length > 0;
  if (hasTarget) obstacles.push(...await targetObstacles(deps, volumes));
  const target = selectDefaultBackupTarget(deps.db)?.name ?? null;
  return { ...none, target, volumes, obstacles };
}

async function groupObstacles(deps: Deps, group: UndoGroup): Promise<Obstacle[]> {
  const { stopped, volumes, images } = group;
  if (volumes.length === 0) return [];
  const signal = AbortSignal.timeout(LOOK_MS);
  return [
    ...await obstacleOf(() => assertNotOwn(deps, volumes.map(volumePart))),
    ...await obstacleOf(() => assertNotShared(deps, volumes, stopped.map(({ id }) => id))),
    ...await obstacleOf(() =>
      withoutValuesOf(deps.engine, stopped, () => findImages(deps, volumes, images, signal))
    ),
  ];
}

export const findImages = (
  deps: Deps,
  volumes: readonly string[],
  images: readonly VolumeImage[],
  signal: AbortSignal = AbortSignal.timeout(LOOK_MS),
) => findWritingImages(deps, volumes.map((name) => volumePart(name).mount), images, signal);

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
  const others = (await writersOf(deps, volumes)).filter(({ container }) =>
    !own.includes(container.id)
  );
  if (others.length === 0) return;
  const messages = others.map(({ container, source }) =>
    `${container.name} uses volume ${source}, too`
  );
  throw new AppError("conflict", messages.join("; "));
}

/** @throws {AppError} `conflict` for a container that runs and may write to a volume. */
export async function assertNoneUp(deps: ReadDeps, volumes: readonly string[]): Promise<void> {
  const up = (await writersOf(deps, volumes)).find(({ container }) =>
    isUp(container) || container.state === "restarting"
  );
  if (!up) return;
  throw new AppError("conflict", `${up.container.name} still uses volume ${up.source}; stop it`);
}

async function writersOf(deps: ReadDeps, volumes: readonly string[]) {
  const users = await usersOfAll(deps, volumes.map((name) => volumePart(name).mount));
  return users.filter(({ container, isReadOnly }) => !isReadOnly && !container.self);
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
    const needed = neededBytes(deps, volumes, known);
    if (room === undefined || room >= needed) return;
    const message = `The data may need ${Math.ceil(needed / 1e6)} MB, and the target has less`;
    obstacles.push({ message, canForce: true });
  });
  return [...refusals, ...obstacles];
}

/** Size of the volumes, without what an earlier snapshot of them is expected to share. */
function neededBytes(
  deps: Pick<Deps, "server">,
  volumes: readonly UndoneVolume[],
  known: readonly Snapshot[],
): number {
  const paths = volumes.map(({ name }) => volumePart(name).path);
  const shared = known
    .filter((each) => isOfThisHost(deps, each) && paths.every((path) => each.paths.includes(path)))
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
export interface UndoInput {
  targetId: string;
  /** Name of the target. */
  place: string;
}

/**
 * Decides where updates keep data.
 *
 * @param groups As for {@linkcode planUndo}.
 * @returns `undefined` if the containers write to no volumes.
 * @throws {AppError} `conflict` with everything for which data could not be brought back.
 */
export async function prepareUndo(
  deps: Deps,
  groups: readonly UndoGroup[],
  { force }: { force: boolean },
): Promise<UndoInput | undefined> {
  const { volumes, obstacles } = await planUndo(deps, groups);
  const left = obstacles.filter(({ canForce }) => !(force && canForce));
  if (left.length > 0) {
    throw new AppError("conflict", left.map(({ message }) => message).join("; "));
  }
  return volumes.length === 0 ? undefined : await chooseTarget(deps);
}

/** The default target, which is created if there are none. */
export async function chooseTarget(deps: Deps): Promise<UndoInput> {
  const { id, name } = await targetForSnapshot(deps, undefined);
  return { targetId: id, place: name };
}
