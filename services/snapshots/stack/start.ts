/** Starts restores of whole stacks, and shows what they would do. @module */

import { assertNotOwn } from "../../backup/volumes/own_data.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import { findWritingImages, writingImages } from "../../backup/volumes/writing_images.ts";
import type { Holder } from "../../access/shares.ts";
import { affectedBy, identityOf } from "../../containers/reserve.ts";
import type { PlannedChange } from "../../compose/plan/change.ts";
import { currentContainers } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { assertStoppable } from "../../containers/stoppable.ts";
import { encodePath } from "../file_path.ts";
import { type OpenedSnapshot, openSnapshot } from "../list.ts";
import { assertNoneOwn } from "../own_path.ts";
import { assertRoomToRestore, readRestoreRoom, type RestoreRoom } from "../restore_room.ts";
import { imageOrigins, imagesOf } from "./images.ts";
import { partsOf, replacedParts, type StackRestoreInput } from "./job.ts";
import { stackRestoreKind } from "./kinds.ts";
import { planStackRestore, type StackRequest, type StackRestorePlan } from "./plan.ts";

export interface StackRestoreRequest extends StackRequest {
  target?: string | undefined;
  stableSeconds?: number | undefined;
}

/** Longest look for a helper image, in milliseconds. */
const LOOK_MS = 30_000;

/**
 * Starts a restore of a whole stack.
 *
 * @throws {AppError} As `planStackRestore()`; `conflict` without an image that can empty a volume, without
 * `HELPER_IMAGE` for directories of the host, without room on the engine's disk, and while another action is in progress.
 */
export async function startStackRestore(
  deps: Deps,
  caller: Holder,
  id: string,
  request: StackRestoreRequest,
): Promise<JobView> {
  const prepared = await prepareStackRestore(deps, caller, id, request);
  return startJob(deps, stackRestoreKind, { ...prepared, caller }).job;
}

/** Plans a job. @throws {AppError} As {@linkcode startStackRestore}. */
export async function prepareStackRestore(
  deps: Deps,
  caller: Holder,
  id: string,
  { target: ref, stableSeconds, ...request }: StackRestoreRequest,
): Promise<{ target: string; input: StackRestoreInput }> {
  using opened = await openSnapshot(deps, id, ref);
  const { target, snapshot } = opened;
  const plan = await planStackRestore(deps, opened, request);
  const { restored, users, created, warnings } = plan;
  const { volumes, anonymousVolumes, directories, networks } = plan;
  await assertPossible(deps, plan);
  assertRoomToRestore(await readRoom(deps, opened, plan));
  const all = await currentContainers(deps);
  return {
    target: restored.name,
    input: {
      volumes,
      anonymousVolumes,
      directories,
      networks,
      targetId: target.id,
      place: target.name,
      snapshot: snapshot.id,
      madeAt: new Date(snapshot.time).toISOString(),
      size: snapshot.summary?.bytes ?? 0,
      stack: restored.description.stack,
      to: request.to,
      created,
      userId: caller.userId,
      stableSeconds: stableSeconds ?? null,
      images: writingImages(users),
      affected: users.flatMap((each) => [identityOf(each), ...affectedBy(each, all)]),
      warnings,
    },
  };
}

/** @throws {AppError} `conflict`; `forbidden` for the service's own data. */
async function assertPossible(deps: Deps, plan: StackRestorePlan): Promise<void> {
  const parts = partsOf(plan);
  await assertNoneOwn(deps, parts.map(({ from }) => `/${encodePath(from)}`));
  await assertNotOwn(deps, parts.map(({ to }) => to));
  const { users, created } = plan;
  const own = users.find(({ self }) => self);
  if (own) {
    throw new AppError("conflict", `${own.name} is Longshore itself and cannot be replaced`);
  }
  await assertStoppable(deps, users);
  // They are needed to put back what was there and to remove what was created, too.
  const mounts = [
    ...replacedParts(plan).map(({ to }) => to.mount),
    ...created.map((source) => ({ type: "bind" as const, source })),
  ];
  const signal = AbortSignal.timeout(LOOK_MS);
  const look = () => findWritingImages(deps, mounts, writingImages(users), signal);
  await withoutValuesOf(deps.engine, users, look);
}

/** @throws {AppError} `conflict` for a file that cannot be written. */
const readRoom = (
  deps: Deps,
  { repository, snapshot }: OpenedSnapshot,
  plan: StackRestorePlan,
): Promise<RestoreRoom> =>
  readRestoreRoom(deps, repository, { snapshot: snapshot.id, parts: partsOf(plan), files: null });

/** A plan, as the API shows it. */
export interface StackRestoreView {
  /** Name that the stack gets. */
  stack: string;
  services: Pick<PlannedChange, "name" | "action">[];
  volumes: { name: string; action: "create" | "replace" }[];
  directories: { path: string; action: "create" | "replace" }[];
  networks: string[];
  images: { name: string; from: "host" | "snapshot" | "registry" }[];
  /** Directory of the sources; `null` for stored ones. */
  directory: string | null;
  /** Whether the sources were written from the containers. */
  isGenerated: boolean;
  /** Running containers that are stopped. */
  stops: string[];
  room: RestoreRoom;
  warnings: string[];
}

/** @throws {AppError} As {@linkcode startStackRestore}. */
export async function viewStackRestore(
  deps: Deps,
  id: string,
  { target, ...request }: StackRestoreRequest,
): Promise<StackRestoreView> {
  using opened = await openSnapshot(deps, id, target);
  const plan = await planStackRestore(deps, opened, request);
  await assertPossible(deps, plan);
  const { restored: { name, description, after, moves }, changes, users, warnings } = plan;
  const actionOf = ({ isNew }: { isNew: boolean }) => isNew ? "create" : "replace";
  return {
    stack: name,
    services: changes.filter(({ kind }) => kind === "service")
      .map(({ name, action }) => ({ name, action })),
    volumes: plan.volumes.map((each) => ({ name: each.name, action: actionOf(each) })),
    directories: plan.directories.map((each) => ({ path: each.path, action: actionOf(each) })),
    networks: [
      ...plan.networks,
      ...changes.filter(({ kind, action }) => kind === "network" && action !== "none")
        .map(({ name }) => after.networks[name]?.name ?? name),
    ],
    images: await imageOrigins(
      deps,
      { repository: opened.repository, snapshot: opened.snapshot.id },
      imagesOf(description, after),
      AbortSignal.timeout(LOOK_MS),
    ),
    directory: moves?.to ?? null,
    isGenerated: description.sources === null,
    stops: users.filter(({ state }) => state === "running" || state === "paused")
      .map(({ name }) => name),
    room: await readRoom(deps, opened, plan),
    warnings,
  };
}
