/**
 * Reads what an update needs to know before it starts, and finds what stands in its way.
 *
 * @module
 */

import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import { fullImageId, isIdOf } from "../../../engine/image_id.ts";
import { findReference } from "../../../engine/image_reference.ts";
import { ifThere } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import { type EngineInfo, systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import type { Container } from "../../containers/inventory.ts";
import { asContainer, inspectContainer, listAll, type ReadDeps } from "../../containers/reads.ts";
import { dependentsOf } from "../../containers/share_group.ts";
import { unitIn, unitText } from "../../containers/units.ts";
import { incomplete } from "../../containers/unreadable.ts";
import { inPodText, isInPod } from "../recreate/podman.ts";
import { isSwarmTask } from "../../swarm/tasks.ts";
import { DEPENDS_ON_LABEL } from "../../stacks/groups.ts";
import { parseDependsOn } from "../../containers/order.ts";
import { roomOf } from "../trial/room.ts";
import { blockOf } from "./blocked.ts";

/** An obstacle to an update. */
export interface Obstacle {
  message: string;
  /** Whether `force` ignores it. */
  canForce: boolean;
}

/** The engine's state before an update. */
export interface Survey {
  old: ContainerInspect;
  container: Container;
  /** All containers of the engine. */
  all: readonly Container[];
  /** The image that the container runs; `undefined` if the engine no longer has it. */
  oldImage: ImageInspect | undefined;
  /** The reference of the new image. */
  reference: string;
  /** Image that the reference names on this host before the pull. */
  local: ImageInspect | undefined;
  /** Containers that are replaced together with it, in topological order. */
  dependents: ContainerInspect[];
  /** Running containers of its stack that require it to be healthy. */
  watched: Container[];
  /** E.g. `runc`. */
  defaultRuntime: string | undefined;
  obstacles: Obstacle[];
}

interface SurveyOptions {
  /** Default: the reference of the container. */
  image?: string | undefined;
  /** The digest that the update expects, if known. */
  digest?: string | undefined;
  /** Nothing is observed, and the image may be the same. */
  isRebuild?: boolean | undefined;
}

type SurveyDeps = ReadDeps & Pick<Deps, "db" | "updateGate">;

/** Free space that a pull needs besides the size of the image: it is unpacked while it is stored. */
const ROOM_FACTOR = 1.2;

/**
 * Reads a container, its images and the containers that depend on it.
 *
 * @throws {AppError} `not_found`; `invalid` for an ambiguous reference.
 */
export async function surveyUpdate(
  deps: SurveyDeps,
  ref: string,
  { image, digest, isRebuild = false }: SurveyOptions = {},
): Promise<Survey> {
  const { engine } = deps;
  const old = await inspectContainer(deps, ref);
  const container = asContainer(deps, old);
  const reference = image ?? (old.Config.Image || old.Image);
  const [oldImage, local, info, all] = await Promise.all([
    ifThere(imageInspect(engine, old.Image)),
    ifThere(imageInspect(engine, reference)),
    systemInfo(engine),
    // A dependent that was created a moment ago may not be in the snapshot yet.
    listAll(deps),
  ]);
  const dependents = await inspectAll(deps, dependentsOf(container, all));
  const survey = {
    old,
    container,
    all,
    oldImage,
    reference,
    local,
    dependents,
    watched: watchedBy(container, all, dependents),
    defaultRuntime: info.DefaultRuntime,
  };
  const obstacles = [
    ...await fixedObstacles(deps, survey, { isRebuild }),
    ...blockedObstacles(deps, survey, digest),
    ...await roomObstacles(deps, info, survey),
  ];
  return { ...survey, obstacles };
}

async function inspectAll(
  { engine }: Pick<Deps, "engine">,
  containers: readonly Container[],
): Promise<ContainerInspect[]> {
  const found = await Promise.all(
    containers.map(({ id }) => ifThere(containerInspect(engine, id))),
  );
  return found.filter((each) => each !== undefined);
}

/** Their health is part of the verdict, although they are not replaced. */
function watchedBy(
  { composeProject, composeService }: Container,
  all: readonly Container[],
  dependents: readonly ContainerInspect[],
): Container[] {
  if (composeProject === null || composeService === null) return [];
  return all.filter((other) =>
    other.composeProject === composeProject && other.state === "running" &&
    other.health !== "unhealthy" && !dependents.some(({ Id }) => Id === other.id) &&
    parseDependsOn(other.labels[DEPENDS_ON_LABEL]).some(({ service, condition }) =>
      service === composeService && condition === "service_healthy"
    )
  );
}

type Read = Omit<Survey, "obstacles">;

/** Obstacles that `force` cannot ignore. */
async function fixedObstacles(
  deps: SurveyDeps,
  survey: Read,
  { isRebuild }: { isRebuild: boolean },
): Promise<Obstacle[]> {
  const { old, container, dependents, oldImage, reference } = survey;
  const { name } = container;
  const messages: string[] = [];
  for (const each of [old, ...dependents]) {
    const member = asContainer(deps, each);
    if (member.self) messages.push(`${member.name} is the service's own container`);
    if (each.Truncated) messages.push(incomplete(`Container ${member.name}`));
    if (each.HostConfig.AutoRemove && !isRebuild) {
      messages.push(
        `${member.name} is removed when it stops (--rm), so that it cannot be observed`,
      );
    }
    if (isInPod(each)) messages.push(inPodText(member.name));
    const unit = unitIn(member.labels);
    if (unit !== null) messages.push(unitText(member.name, unit));
    if (["paused", "removing", "dead"].includes(each.State.Status)) {
      messages.push(`${member.name} is ${each.State.Status}`);
    }
  }
  if (await isSwarmTask(deps.engine, container)) {
    messages.push(`${name} is a Swarm task and is managed by Swarm`);
  }
  if (oldImage?.Truncated) messages.push(incomplete(`The image of ${name}`));
  if (container.originalName !== name) {
    messages.push(`${name} is part of an unfinished update or rebuild`);
  }
  if (isIdOf(reference, old.Image) && !isRebuild) {
    messages.push(`${name} was created from an image id, which has no newer version`);
  }
  return messages.map((message) => ({ message, canForce: false }));
}

function blockedObstacles(
  deps: Pick<Deps, "db" | "updateGate">,
  { container, oldImage: platform }: Read,
  digest: string | undefined,
): Obstacle[] {
  const reason = blockOf(deps, container.name, { digest, platform });
  return reason === undefined ? [] : [blockObstacle(container.name, reason)];
}

/** @param name Of the container: an update of a stack has several. */
export const blockObstacle = (name: string, reason: string): Obstacle => ({
  message: `The update of ${name} is blocked: ${reason}`,
  canForce: true,
});

/** The new image is expected to be as large as the old one. */
async function roomObstacles(
  deps: SurveyDeps,
  info: EngineInfo,
  { oldImage }: Read,
): Promise<Obstacle[]> {
  const free = await roomOf(deps, info);
  const needed = (oldImage?.Size ?? 0) * ROOM_FACTOR;
  if (free === undefined || free >= needed) return [];
  // Without the space that is free, which changes all the time: the same obstacle is reported once.
  const message = `The image may need ${megabytes(needed)}, and the engine's disk has less`;
  return [{ message, canForce: true }];
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;

/** The manifest digests of an image in the repository of a reference, or its id without one. */
export function digestsOf({ Id, RepoDigests }: ImageInspect, reference: string): string[] {
  const repository = repositoryOf(reference);
  const found = (RepoDigests ?? []).filter((each) => repositoryOf(each) === repository);
  const digests = found.map((each) => each.slice(each.indexOf("@") + 1));
  return digests.length > 0 ? digests : [fullImageId(Id)];
}

function repositoryOf(reference: string): string | undefined {
  const found = findReference(reference);
  return found && `${found.registry}/${found.repository}`;
}
