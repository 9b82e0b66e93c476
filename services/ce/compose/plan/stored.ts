/**
 * The plan of a stack with stored sources.
 *
 * @module
 */

import {
  type ContainerConfig,
  containerInspect,
  containerList,
} from "../../../../engine/containers.ts";
import { ifThere } from "../../../../engine/errors.ts";
import { imageInspect } from "../../../../engine/images.ts";
import { networkList } from "../../../../engine/networks.ts";
import { systemInfo } from "../../../../engine/system.ts";
import { volumeList } from "../../../../engine/volumes.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../errors.ts";
import { currentContainers, type ReadDeps } from "../../containers/reads.ts";
import type { Project } from "../load/resolve.ts";
import { LABEL } from "../labels.ts";
import type { LoadIssue } from "../load/scope.ts";
import { newPlace } from "../disk_sources.ts";
import type { FileDeps } from "../project_files.ts";
import { completeSources, loadDeployable, openStackSource } from "../sources.ts";
import { type DiskPlace, loadStack, type StackSources, type StoredSources } from "../validate.ts";
import type { PlanOptions } from "./options.ts";
import type { Observed, StackPlan } from "./plan.ts";

/** Parallel requests to the engine. */
const REQUESTS_MAX = 8;

type ObserveDeps = ReadDeps & Pick<Deps, "secrets">;
type StackDeps = FileDeps & ObserveDeps & Pick<Deps, "db">;

/** A stack with stored sources, loaded. */
export interface LoadedStack {
  version: number;
  /** Where it is on disk. */
  place?: DiskPlace | undefined;
  project: Project;
  /** Texts of configs and secrets, e.g. by `secrets.key`. */
  contents: ReadonlyMap<string, string>;
  /** Paths of the files on disk that are read from outside of its directory. */
  outside: readonly string[];
  warnings: string[];
}

/**
 * Loads the sources of a stack.
 *
 * @param version Default: the current one.
 * @throws {AppError} `not_found` for a stack or version without stored sources; `conflict` for a
 * Swarm stack, and if this version of Longshore does not accept the sources any more.
 */
export async function openStack(
  deps: StackDeps,
  name: string,
  version?: number,
): Promise<LoadedStack> {
  const opened = await openStackSource(deps, name, version);
  if (opened.kind === "swarm") throw swarmOnlyStored(name, "deploy");
  const { project, contents, errors: [error], warnings } = await loadStack(opened.sources, {
    name,
    refusesRelative: true,
    bindAllow: deps.config.bindAllow,
  });
  if (!project) {
    throw new AppError("conflict", `${error?.line}: ${error?.path} ${error?.message}`);
  }
  return {
    version: opened.version,
    place: opened.sources.place,
    project,
    contents,
    outside: Object.keys(opened.sources.outside ?? {}),
    warnings: warnings.map(warningText),
  };
}

/** The refusal of an action on a Swarm stack. @param command What `docker stack` does instead. */
export const swarmOnlyStored = (name: string, command: "deploy" | "rm") =>
  new AppError(
    "conflict",
    `${name} is a Swarm stack, whose sources are only stored here; use docker stack ${command}`,
  );

/**
 * Compares the current sources of a stack with the engine. Changes nothing.
 *
 * @throws {AppError} As `openStack()`; `invalid` for an unknown service among the options.
 */
export async function planStoredStack(
  deps: StackDeps,
  name: string,
  options: PlanOptions = {},
): Promise<StackPlan & { version: number }> {
  const stack = await openStack(deps, name);
  const { version, warnings } = stack;
  assertServices(stack, options);
  const { planProject } = await import("./plan.ts");
  const plan = planProject(stack.project, await observe(deps, stack), options);
  return { version, changes: plan.changes, warnings: [...warnings, ...plan.warnings] };
}

/**
 * Compares sources with the engine that a user sent instead of the current ones. Changes nothing.
 *
 * @param given.directory Of a stack on disk that is not stored yet.
 * @throws {AppError} As `planSources()`.
 */
export async function planGivenSources(
  deps: StackDeps,
  name: string,
  { directory, ...given }: StackSources & { directory?: string | undefined },
  options: PlanOptions,
): Promise<StackPlan> {
  const sources = await completeSources(deps, name, given);
  const place = sources.place ?? (directory === undefined ? undefined : newPlace(directory));
  return await planSources(deps, name, { ...sources, place }, options);
}

/**
 * Compares sources that are not stored with the engine. Changes nothing.
 *
 * @returns The plan, and whether the project has containers.
 * @throws {AppError} `invalid` for sources that cannot be deployed, and for an unknown service.
 */
export async function planSources(
  deps: ObserveDeps & Pick<Deps, "config">,
  name: string,
  sources: StoredSources,
  options: PlanOptions = {},
): Promise<StackPlan & { isDeployed: boolean }> {
  const loaded = await loadDeployable(deps, sources, name);
  assertServices(loaded, options);
  const observed = await observe(deps, loaded);
  const { planProject } = await import("./plan.ts");
  const plan = planProject(loaded.project, observed, options);
  const warnings = [...loaded.warnings.map(warningText), ...plan.warnings];
  return { changes: plan.changes, warnings, isDeployed: observed.containers.length > 0 };
}

const warningText = ({ line, path, message }: LoadIssue) => `${line}: ${path} ${message}`;

/** @throws {AppError} `invalid` for an unknown service. */
export function assertServices(
  { project }: Pick<LoadedStack, "project">,
  { services = [] }: PlanOptions,
): void {
  const unknown = services.find((service) => !Object.hasOwn(project.services, service));
  if (unknown === undefined) return;
  throw new AppError("invalid", `body.services: ${unknown} is not a service of ${project.name}`);
}

/** Reads what the engine has of a project. */
export async function observe(
  deps: ObserveDeps,
  { project, contents }: Pick<LoadedStack, "project" | "contents">,
): Promise<Observed> {
  const { engine, secrets } = deps;
  const [all, listed, networks, volumes, info] = await Promise.all([
    currentContainers(deps),
    containerList(engine, {
      all: true,
      filters: { label: [`${LABEL.project}=${project.name}`] },
    }),
    networkList(engine),
    volumeList(engine),
    systemInfo(engine),
  ]);
  const own = listed.filter(({ Labels }) => Labels?.[LABEL.oneOff]?.toLowerCase() !== "true");
  const inspects = await inParallel(own, ({ Id }) => ifThere(containerInspect(engine, Id)));
  const containers = inspects.filter((inspect) => inspect !== undefined);

  const ids = [...new Set(containers.map(({ Image }) => Image))];
  const references = [...new Set(Object.values(project.services).map(({ image }) => image))];
  const [used, wanted] = await Promise.all(
    [ids, references].map((images) =>
      inParallel(
        images,
        async (image) => [image, await ifThere(imageInspect(engine, image))] as const,
      )
    ),
  );
  return {
    containers,
    images: new Map(
      used!.flatMap(([id, image]): [string, ContainerConfig][] =>
        image ? [[id, image.Config ?? {}]] : []
      ),
    ),
    imageIds: new Map(
      wanted!.flatMap(([reference, image]) => image ? [[reference, image.Id]] : []),
    ),
    networks: new Set(networks.map(({ Name }) => Name)),
    volumes: new Set(volumes.map(({ Name }) => Name)),
    fileHashes: await hashAll(secrets, project, contents),
    networkDetails: new Map(networks.map((network) => [network.Name, network])),
    volumeDetails: new Map(volumes.map((volume) => [volume.Name, volume])),
    all,
    defaults: {
      apiVersion: engine.apiVersion,
      logDriver: info.LoggingDriver,
      runtime: info.DefaultRuntime,
    },
  };
}

async function hashAll(
  secrets: Deps["secrets"],
  project: Project,
  contents: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const services = Object.entries(project.services);
  if (contents.size === 0 && !services.some(([, { post_start }]) => post_start)) return hashes;
  const { filesOf, hashFiles } = await import("../deploy/files.ts");
  for (const [key, service] of services) {
    const hash = await hashFiles(secrets, filesOf(project, key, contents), service);
    if (hash !== undefined) hashes.set(key, hash);
  }
  return hashes;
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += REQUESTS_MAX) {
    results.push(...await Promise.all(items.slice(at, at + REQUESTS_MAX).map(work)));
  }
  return results;
}
