/**
 * The steps of a deploy that create and start the containers of services. Each starts from the
 * engine's current state, so that it can be repeated after a crash in the middle.
 *
 * @module
 */

import { containerExtract } from "../../../engine/container_archive.ts";
import type { ContainerInspect } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { tryOwnPolicy } from "../../containers/left_stopped.ts";
import { learnImageOf } from "../../containers/own_labels.ts";
import {
  asContainer,
  findByName,
  inspectContainer,
  refreshContainer,
} from "../../containers/reads.ts";
import { withoutContainerValues } from "../../containers/secret_values.ts";
import type { Recreation } from "../../updates/recreate/recreate.ts";
import {
  createFrom,
  isUp,
  nameOf,
  prepareReplacement,
  removeAndWait,
} from "../../updates/recreate/replace.ts";
import { progressOf } from "../../stacks/actions.ts";
import { inspectIfThere, type Pair, temporaryName } from "../../updates/run/members.ts";
import { putNewInPlace, start } from "../../updates/run/swap.ts";
import { LABEL } from "../labels.ts";
import { dependenciesOf, type Service } from "../load/resolve.ts";
import { listMembers } from "../members.ts";
import { findImage, imageKey } from "../plan/platform.ts";
import { numberOf, scaleOf } from "../plan/replicas.ts";
import type { LoadedStack } from "../plan/stored.ts";
import { containerNameOf, planServiceContainer, type VolumeSource } from "./container.ts";
import { archiveOf, filesOf, hashFiles } from "./files.ts";
import { runHooks } from "./hooks.ts";
import type { FindPeer } from "./host_config.ts";
import type { AnonymousVolume, CreatedContainers, ServiceWork } from "./job.ts";

const POLL_MS = 250;

/** The containers of a service, by number; of all services without `key`. */
export async function containersOf(
  { engine }: Pick<Deps, "engine">,
  { project }: { project: Pick<LoadedStack["project"], "name"> },
  key?: string,
): Promise<ContainerInspect[]> {
  const listed = await listMembers(engine, project.name, key);
  const own = listed.filter(({ Labels }) => Labels?.[LABEL.oneOff]?.toLowerCase() !== "true");
  const inspects = await Promise.all(own.map(({ Id }) => inspectIfThere(engine, Id)));
  return inspects.filter((inspect) => inspect !== undefined)
    .sort((a, b) => numberOf(a) - numberOf(b));
}

/**
 * Creates the containers of a service under temporary names where they replace others. None is
 * started or stopped.
 *
 * @param options.isExisting Whether a container was there before the deploy.
 * @param options.anonymousVolumes Those that containers get which replace none.
 * @throws {AppError} `conflict` with the engine's message.
 */
export async function createContainers(
  deps: Deps,
  stack: LoadedStack,
  { key, replaced, created }: ServiceWork,
  { isExisting, anonymousVolumes }: {
    isExisting: (id: string) => boolean;
    anonymousVolumes: readonly AnonymousVolume[];
  },
): Promise<CreatedContainers> {
  if (replaced.length + created.length === 0) return { pairs: [], fresh: [] };
  const { engine } = deps;
  const { project, place } = stack;
  const { Id, Config } = await imageOf(engine, project.services[key]!);
  const files = filesOf(project, key, stack.contents);
  const fileHashes = await hashFiles(deps.secrets, project, key, stack.contents);
  const findPeer = await peersOf(deps, stack, key);
  const plan = (number: number, old: VolumeSource | undefined): Recreation =>
    planServiceContainer({
      project,
      place,
      key,
      number,
      image: { id: fullImageId(Id), config: Config ?? {} },
      findPeer,
      old,
      fileHashes,
      apiVersion: engine.apiVersion,
    });
  const copyFiles = async (id: string) => {
    if (files.length === 0) return;
    await containerExtract(engine, id, { path: "/", archive: archiveOf(files, deps.now()) });
  };

  const pairs: Pair[] = [];
  for (const member of replaced) {
    const old = await inspectContainer(deps, member.oldId);
    const { name, number } = member;
    const recreation = plan(number, old);
    const newId = await explained(
      engine,
      () =>
        prepareReplacement(deps, recreation, { name, temporaryName: temporaryName(member, "new") }),
      recreation,
      name,
      old,
    );
    await copyFiles(newId);
    const newPolicy = recreation.create.HostConfig?.RestartPolicy ?? { Name: "no" };
    pairs.push({ ...member, newId, newPolicy });
  }
  const fresh: CreatedContainers["fresh"] = [];
  for (const number of created) {
    const name = containerNameOf(project, key, number);
    const leftover = await findByName(engine, name);
    if (leftover && !isExisting(leftover.Id) && await belongsTo(deps, leftover, project.name)) {
      await removeAndWait(engine, leftover.Id, { volumes: true });
    }
    const volumes = anonymousVolumes.filter((each) =>
      each.service === key && each.number === number
    );
    const recreation = plan(number, volumes.length > 0 ? sourceOf(volumes) : undefined);
    const id = await explained(
      engine,
      () => createFrom(engine, name, recreation),
      recreation,
      name,
    );
    await copyFiles(id);
    fresh.push({ id, name });
  }
  return { pairs, fresh };
}

/** The description of a container that had these volumes. */
const sourceOf = (volumes: readonly AnonymousVolume[]): VolumeSource => ({
  Config: { Volumes: Object.fromEntries(volumes.map(({ path }) => [path, {}])) },
  Mounts: volumes.map(({ path, volume }) => ({
    Type: "volume",
    Name: volume,
    Destination: path,
    RW: true,
  })),
});

/** @throws {AppError} `conflict` if it was removed since the plan. */
async function imageOf(engine: Deps["engine"], service: Service): Promise<ImageInspect> {
  const info = service.platform === undefined ? {} : await systemInfo(engine);
  const image = await findImage(engine, service, info);
  if (image) return image;
  throw new AppError("conflict", `Image ${imageKey(service)} does not exist any more`);
}

async function belongsTo(deps: Deps, container: ContainerInspect, project: string) {
  await learnImageOf(deps.engine, container);
  return asContainer(deps, container).composeProject === project;
}

/** Lets messages of the engine not show values of variables, also not of a replaced container. */
async function explained<Result>(
  engine: Deps["engine"],
  work: () => Promise<Result>,
  { create: { HostConfig = {}, ...Config } }: Recreation,
  name: string,
  old?: ContainerInspect,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof EngineError
      ? new AppError("conflict", `${name} could not be created: ${error.message}`, { cause: error })
      : error;
    const shown = await withoutContainerValues(engine, { Config, HostConfig }, known);
    throw old ? await withoutContainerValues(engine, old, shown) : shown;
  }
}

async function peersOf(deps: Deps, stack: LoadedStack, key: string): Promise<FindPeer> {
  const first = new Map<string, ContainerInspect>();
  for (const dependency of Object.keys(dependenciesOf(stack.project.services[key]!))) {
    const [container] = (await containersOf(deps, stack, dependency)).filter((each) =>
      nameOf(each) === containerNameOf(stack.project, dependency, numberOf(each)) || isUp(each)
    );
    if (container) first.set(dependency, container);
  }
  return (service) => {
    const peer = first.get(service);
    if (peer) return { id: peer.Id, name: nameOf(peer) };
    throw new AppError("conflict", `${key} needs a container of ${service}, which has none`);
  };
}

/**
 * Puts the new containers of a service in place and starts all that shall run, with the hooks of the
 * service.
 *
 * @param options.isResumed Whether all were started before, and those that stopped meanwhile, e.g.
 * with the engine, are started again.
 */
export async function startContainers(
  deps: Deps,
  { project }: Pick<LoadedStack, "project">,
  { key, started }: ServiceWork,
  { pairs, fresh }: CreatedContainers,
  { signal, isResumed = false }: { signal: AbortSignal; isResumed?: boolean },
): Promise<void> {
  const ids = [...pairs.map(({ newId }) => newId), ...[...fresh, ...started].map(({ id }) => id)];
  const begun: string[] = [];
  for (const id of ids) {
    if (!isResumed || !isUp(await inspectContainer(deps, id))) begun.push(id);
  }
  for (const { oldId } of pairs) {
    await runHooks(deps, project.services[key], "pre_stop", oldId, signal);
  }
  // A container that was stopped before is started by a deploy.
  await putNewInPlace(deps, pairs.map((pair) => ({ ...pair, ran: true })));
  for (const { id } of [...fresh, ...started]) {
    const container = await inspectContainer(deps, id);
    if (!isUp(container)) {
      await tryOwnPolicy(deps, id);
      await start(deps.engine, container);
    }
    await refreshContainer(deps, id);
  }
  for (const id of begun) await runHooks(deps, project.services[key], "post_start", id, signal);
}

/**
 * Waits until the dependencies of a service meet their conditions.
 *
 * @throws {AppError} `conflict` if a required one fails or takes too long.
 */
export async function waitForDependencies(
  deps: Deps,
  stack: LoadedStack,
  key: string,
  { replaced, timeoutSeconds, signal, onProgress }: {
    /** Ids of old containers, which are stopped but still exist. */
    replaced: ReadonlySet<string>;
    /** `null` for no limit: the health check or the task itself decides. */
    timeoutSeconds: number | null;
    signal: AbortSignal;
    onProgress(message: string): void;
  },
): Promise<void> {
  const deadline = timeoutSeconds === null ? Infinity : performance.now() + timeoutSeconds * 1000;
  for (
    const [service, { condition, required }] of Object.entries(
      dependenciesOf(stack.project.services[key]!),
    )
  ) {
    const dependency = stack.project.services[service];
    // Of a service without containers, none can become healthy.
    if (condition === "service_started" || !dependency || scaleOf(dependency) === 0) continue;
    for (;;) {
      signal.throwIfAborted();
      const containers = (await containersOf(deps, stack, service))
        .filter(({ Id }) => !replaced.has(Id))
        .map((each) => asContainer(deps, each));
      // The plan refuses it, but an old container that is kept may lack what the file has.
      const isUnchecked = condition === "service_healthy" &&
        containers.some(({ state, health }) => state === "running" && health === null);
      const progress = isUnchecked ? "failed" : progressOf({ containers }, condition);
      if (progress === "met") break;
      const state = condition === "service_healthy" ? "healthy" : "completed successfully";
      if (progress === "failed" || performance.now() > deadline) {
        if (!required) break;
        throw new AppError("conflict", `${key} needs ${service}, which is not ${state}`);
      }
      onProgress(`${key} waits until ${service} is ${state}`);
      await sleep(POLL_MS, signal);
    }
  }
}
