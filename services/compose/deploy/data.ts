/** Data that a deploy keeps, so that a failure can bring it back. @module */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { asContainer, type ReadDeps } from "../../containers/reads.ts";
import { assertStoppable } from "../../containers/stoppable.ts";
import { type VolumeImage, writingImages } from "../../backup/volumes/writing_images.ts";
import {
  chooseTarget,
  type DataPlan,
  pickData,
  planUndo,
  prepareUndo,
  type UndoGroup,
  type UndoPlan,
  volumesOf,
} from "../../updates/data/plan.ts";
import { planUndone } from "../../updates/data/restored.ts";
import { type DataChoice, updatePolicy } from "../../updates/labels.ts";
import type { UndoneData } from "../../updates/run/job.ts";
import type { Obstacle } from "../../updates/run/survey.ts";
import { readUpdateSettings } from "../../updates/settings.ts";
import type { Project } from "../load/resolve.ts";
import type { PlannedChange } from "../plan/change.ts";
import { dependentsOfPlan } from "../plan/dependents.ts";
import type { Observed } from "../plan/observed.ts";
import { planProject } from "../plan/plan.ts";
import { imageKey } from "../plan/platform.ts";
import { replicasOf } from "../plan/replicas.ts";
import type { LoadedStack } from "../plan/stored.ts";
import type { DeployInput } from "./job.ts";
import type { DeployRequest } from "./request.ts";

/** Keys of the services whose data returns after a failure: as the request says, else by label or setting. */
function undoneServices(
  deps: Pick<Deps, "config" | "db">,
  { services }: Project,
  { images, imageIds }: Observed,
  requested: DataChoice | undefined,
): string[] {
  const fallback = readUpdateSettings(deps).data;
  return Object.entries(services).filter(([, service]) => {
    const given = images.get(imageIds.get(imageKey(service)) ?? "")?.Labels ?? {};
    const { data } = updatePolicy({ ...given, ...service.labels }, given);
    return (requested ?? data ?? fallback) === "undo";
  }).map(([key]) => key);
}

type ServiceChanges = readonly Pick<PlannedChange, "kind" | "name" | "action">[];

/** The containers that changes stop, and the data that may be written by what they start. */
function groupOfChanges(
  deps: ReadDeps,
  project: Project,
  observed: Observed,
  { changes, undone }: { changes: ServiceChanges; undone: readonly string[] },
): UndoGroup {
  const stopped: Container[] = [];
  const writers: Container[] = [];
  const mounted: VolumeImage[] = [];
  const unpulled: string[] = [];
  for (const { kind, name: key, action } of changes) {
    if (kind !== "service" || action === "none") continue;
    const replicas = replicasOf(project, key, observed.containers);
    const replaced = (action === "recreate" ? replicas.kept : replicas.stopped)
      .map((each) => asContainer(deps, each));
    stopped.push(...replaced, ...replicas.superfluous.map((each) => asContainer(deps, each)));
    if (!undone.includes(key)) continue;
    writers.push(...replaced);
    const image = observed.imageIds.get(imageKey(project.services[key]!));
    for (const volume of mountedVolumes(project, key, observed)) {
      if (image === undefined) unpulled.push(volume);
      else mounted.push({ volume, image });
    }
  }
  const { recreated } = dependentsOfPlan(changes, project, observed);
  if (writers.length > 0) writers.push(...recreated);
  const written = [...volumesOf(writers), ...mounted.map(({ volume }) => volume), ...unpulled];
  return {
    stopped: [...stopped, ...recreated],
    volumes: [...new Set(written)].sort(),
    images: [...writingImages(writers), ...mounted],
  };
}

/** Existing volumes to which the new containers of a service may write. */
function mountedVolumes({ services, volumes }: Project, key: string, observed: Observed): string[] {
  const mounts = services[key]?.volumes ?? [];
  return mounts.flatMap(({ type, source, read_only }) => {
    const name = type === "volume" && source && !read_only ? volumes[source]?.name : undefined;
    return name !== undefined && observed.volumes.has(name) ? [name] : [];
  });
}

/** Changes of a plan, and those that a pull may add: its new images are not known yet. */
function withPulled(
  changes: readonly PlannedChange[],
  { services }: Project,
  { pull, recreate }: Pick<DeployRequest, "pull" | "recreate">,
): ServiceChanges {
  if (recreate === "never") return changes;
  return changes.map((change) => {
    const policy = pull ?? services[change.name]?.pull_policy;
    const isPulled = change.kind === "service" && policy === "always" && change.action === "none";
    return isPulled ? { ...change, action: "recreate" } : change;
  });
}

/**
 * Decides where a deploy keeps data, as far as it can be known before its images are pulled.
 *
 * @throws {AppError} `invalid` for data that would return under new containers; `conflict` with
 * everything for which data could not be brought back.
 */
export async function prepareDeployUndo(
  deps: Deps,
  { project }: LoadedStack,
  observed: Observed,
  request: DeployRequest,
): Promise<Pick<DeployInput, "targetId" | "place" | "undone">> {
  const undone = chosenServices(deps, project, observed, request);
  if (undone.length === 0) return {};
  const { changes } = planProject(project, observed, request);
  const group = groupOfChanges(deps, project, observed, { changes, undone });
  if (group.volumes.length > 0) await assertStoppable(deps, group.stopped);
  const undo = await prepareUndo(deps, [group], { force: false });
  if (undo) return { ...undo, undone };
  const possible = withPulled(changes, project, request);
  const { volumes } = groupOfChanges(deps, project, observed, { changes: possible, undone });
  return volumes.length === 0 ? {} : { ...await chooseTarget(deps), undone };
}

function chosenServices(
  deps: Deps,
  project: Project,
  observed: Observed,
  { data, onFailure, services }: DeployRequest,
): string[] {
  if (onFailure === "stop") {
    if (data !== "undo") return [];
    throw new AppError("invalid", "body.onFailure: must be rollback with data: undo");
  }
  return undoneServices(deps, project, observed, data)
    .filter((key) => !services || services.includes(key));
}

/** Says what a deploy would keep; see {@linkcode prepareDeployUndo}. */
export async function previewDeployUndo(
  deps: Deps,
  { project }: LoadedStack,
  observed: Observed,
  request: DeployRequest,
): Promise<Pick<UndoPlan, "warnings" | "obstacles"> & { data: DataPlan }> {
  const undone = chosenServices(deps, project, observed, request);
  const { changes } = planProject(project, observed, request);
  const possible = withPulled(changes, project, request);
  const group = groupOfChanges(deps, project, observed, { changes: possible, undone });
  const plan = await planUndo(deps, undone.length > 0 ? [group] : []);
  const stops = group.volumes.length > 0 ? await stopObstacles(deps, group) : [];
  return {
    warnings: plan.warnings,
    obstacles: [...plan.obstacles, ...stops],
    data: { choice: undone.length > 0 ? "undo" : "keep", ...pickData(plan) },
  };
}

async function stopObstacles(deps: Deps, { stopped }: UndoGroup): Promise<Obstacle[]> {
  try {
    await assertStoppable(deps, stopped);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ message: error.message, canForce: false }];
  }
}

/**
 * The data that a deploy keeps, read again when its changes are known.
 *
 * @returns `undefined` if the data stays as it is written.
 * @throws {AppError} `conflict` for data that could not be brought back.
 */
export async function planDeployUndone(
  deps: Deps,
  { undone, targetId, restored }: DeployInput,
  project: Project,
  observed: Observed,
  changes: readonly PlannedChange[],
): Promise<UndoneData | undefined> {
  if (targetId === undefined) return undefined;
  const group = groupOfChanges(deps, project, observed, { changes, undone: undone ?? [] });
  const { name } = project;
  if (group.volumes.length === 0) {
    if (!restored) return undefined;
    const reason = "does not change any container that uses the data to bring back";
    throw new AppError("conflict", `The rollback of ${name} ${reason}`);
  }
  await assertStoppable(deps, group.stopped);
  return await planUndone(deps, { name, stack: name, group }, { restored });
}
