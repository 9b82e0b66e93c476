/** The plan of a stack with stored sources. @module */

import { selectStackVersions } from "../../../db/stack_versions.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError } from "../../errors.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import { hideValues } from "../../containers/secret_values.ts";
import { assertBuilt, findUnbuilt } from "../builds.ts";
import type { Project } from "../load/resolve.ts";
import { issueText, type UnbuiltImage } from "../load/scope.ts";
import { newPlace } from "../disk_sources.ts";
import {
  completeSources,
  loadDeployable,
  readDirectory,
  textOf,
  toInputIssue,
} from "../given_sources.ts";
import type { FileDeps } from "../project_files.ts";
import type { OpenedVersion } from "../source_view.ts";
import { recordCurrent } from "../sources.ts";
import { type DiskPlace, loadStack, type StackSources, type StoredSources } from "../validate.ts";
import { findVersion, openVersion } from "../versions.ts";
import type { StackKind } from "../../stacks/groups.ts";
import type { PlanOptions } from "./options.ts";
import { observe } from "./observe.ts";
import type { StackPlan } from "./plan.ts";

type ObserveDeps = ReadDeps & Pick<Deps, "db" | "secrets">;
type StackDeps = FileDeps & ObserveDeps & Pick<Deps, "db">;

/** A stack with stored sources, loaded. */
export interface LoadedStack {
  version: number;
  /** Location for relative paths and labels. */
  place?: DiskPlace | undefined;
  /** Whether the files of this location are the sources. */
  isOnDisk: boolean;
  project: Project;
  /** Texts of configs and secrets, e.g. by `secrets.key`. */
  contents: ReadonlyMap<string, string>;
  /** Paths of the files on disk that are read from outside of its directory. */
  outside: readonly string[];
  warnings: string[];
  /** Images of services with `build`, which the engine must have. */
  builds: readonly UnbuiltImage[];
  /** Values of variables that only admins see; no message to others may repeat them. */
  secretValues: readonly string[];
}

/**
 * Loads a version of the sources of a stack.
 *
 * @throws {AppError} `not_found` for a stack or version without stored sources; `conflict` for a
 * Swarm stack, and if this version of Longshore does not accept the sources any more.
 */
export const openStack = (
  deps: StackDeps,
  name: string,
  version: number,
  kind: StackKind = "compose",
): Promise<LoadedStack> =>
  loadVersion(deps, openVersion(deps, findVersion(deps, name, version)), kind);

/**
 * Records an edit on disk as the next version, and loads the current one.
 *
 * @throws {AppError} As `openStack()`; `conflict` for files that cannot be read.
 */
export const recordStack = async (
  deps: StackDeps,
  name: string,
  kind: StackKind = "compose",
): Promise<LoadedStack> => await loadVersion(deps, await recordCurrent(deps, name), kind);

async function loadVersion(
  deps: StackDeps,
  { stored, sources }: OpenedVersion,
  kind: StackKind,
): Promise<LoadedStack> {
  const { stack: name, version } = stored;
  if (kind !== stored.kind) throw otherKind(name);
  const loaded = await loadStack(deps, sources, {
    name,
    refusesRelative: true,
    bindAllow: deps.config.bindAllow,
  });
  const { project, contents, errors: [error], warnings, builds, values } = loaded;
  if (!project) {
    throw new AppError("conflict", hideValues(issueText(error!), values));
  }
  return {
    version,
    place: sources.place ?? sources.base,
    isOnDisk: sources.place !== undefined,
    project,
    contents,
    outside: Object.keys(sources.outside ?? {}),
    warnings: warnings.map(issueText),
    builds,
    secretValues: secretValues(project, values),
  };
}

/** A port, which messages must be able to name. */
const PORT = /^\d{1,5}$/;

/** Without the values in what viewers see of containers: images, names and ports. */
export function secretValues(project: Project, values: readonly string[]): string[] {
  const { name, services, networks, volumes } = project;
  const shown = [
    name,
    ...Object.values({ ...networks, ...volumes }).map((part) => part.name),
    ...Object.entries(services).flatMap(([key, { image, container_name = "" }]) => [
      key,
      image,
      container_name,
    ]),
  ];
  return values.filter((value) => !PORT.test(value) && !shown.some((text) => text.includes(value)));
}

/** The refusal of an action that only Compose projects have. */
export const otherKind = (name: string) =>
  new AppError("conflict", `${name} is a Swarm stack, for which this is not available`);

/**
 * Compares the current sources of a stack with the engine. Changes nothing but to record an edit on
 * disk.
 *
 * @throws {AppError} As `openStack()`; `invalid` for an unknown service among the options;
 * `conflict` for an image that would have to be built.
 */
export async function planStoredStack(
  deps: StackDeps,
  caller: Pick<Caller, "role">,
  name: string,
  options: PlanOptions = {},
): Promise<StackPlan & { version: number }> {
  const stack = await recordStack(deps, name);
  const { version, warnings } = stack;
  assertServices(stack, options);
  await assertBuilt(deps, stack.builds);
  const { planProject } = await import("./plan.ts");
  const { shownPlan } = await import("./shown.ts");
  const plan = planProject(stack.project, await observe(deps, stack), options);
  const hidden = secretValues(stack.project, await hiddenValues(deps, caller, name));
  return shownPlan({ ...plan, version, warnings: [...warnings, ...plan.warnings] }, hidden);
}

/**
 * The values of the variables of all versions of a stack, because its containers may have those of any;
 * none for an admin, who may see them.
 */
async function hiddenValues(
  deps: Pick<Deps, "db" | "secrets" | "composeLoader" | "config">,
  { role }: Pick<Caller, "role">,
  name: string,
): Promise<string[]> {
  if (includesRole(role, "admin")) return [];
  const { bindAllow } = deps.config;
  const hidden = new Set<string>();
  for (const { version } of selectStackVersions(deps.db, name)) {
    const { sources } = openVersion(deps, findVersion(deps, name, version));
    // Variables do not depend on the Compose text.
    const { values } = await loadStack(deps, { ...sources, compose: "" }, { name, bindAllow });
    values.forEach((value) => hidden.add(value));
  }
  return [...hidden];
}

interface GivenSources extends Omit<StackSources, "compose"> {
  compose?: string | undefined;
  directory?: string | undefined;
}

/**
 * Compares sources with the engine that a user sent instead of the current ones. Changes nothing.
 *
 * @param given.directory Of a stack on disk that is not stored yet; without a Compose text, its files
 * are the sources.
 * @throws {AppError} As `completeSources()` and `planSources()`.
 */
export async function planGivenSources(
  deps: StackDeps,
  caller: Pick<Caller, "role">,
  name: string,
  { directory, compose, ...rest }: GivenSources,
  options: PlanOptions,
): Promise<StackPlan> {
  if (compose === undefined) {
    const { profiles } = rest;
    const sources = await readDirectory(deps, caller, directory, profiles);
    return await planSources(deps, caller, name, sources, options);
  }
  const hidden = await hiddenValues(deps, caller, name);
  const given = { compose, ...rest };
  const sources = await completeSources(deps, caller, name, given);
  const { env, place = directory === undefined ? undefined : newPlace(directory, textOf(env)) } =
    sources;
  return await planSources(deps, caller, name, { ...sources, place }, options, hidden);
}

/**
 * Compares sources that are not stored with the engine. Changes nothing.
 *
 * @param hidden Values that the plan does not repeat, besides those of the sources, unless the caller is
 * an admin.
 * @returns The plan, and whether the project has containers.
 * @throws {AppError} `invalid` for sources that cannot be deployed, and for an unknown service.
 */
export async function planSources(
  deps: ObserveDeps & Pick<Deps, "composeLoader" | "config">,
  { role }: Pick<Caller, "role">,
  name: string,
  sources: StoredSources,
  options: PlanOptions = {},
  hidden: readonly string[] = [],
): Promise<StackPlan & { isDeployed: boolean }> {
  const loaded = await loadDeployable(deps, sources, name);
  assertServices(loaded, options);
  const unbuilt = await findUnbuilt(deps, loaded.builds);
  if (unbuilt.length > 0) throw new InputError(unbuilt.map(toInputIssue));
  const observed = await observe(deps, loaded);
  const { planProject } = await import("./plan.ts");
  const { shownPlan } = await import("./shown.ts");
  const plan = planProject(loaded.project, observed, options);
  const warnings = [...loaded.warnings.map(issueText), ...plan.warnings];
  const values = includesRole(role, "admin")
    ? []
    : secretValues(loaded.project, [...loaded.values, ...hidden]);
  return shownPlan({ ...plan, warnings, isDeployed: observed.containers.length > 0 }, values);
}

/** @throws {AppError} `invalid` for an unknown service. */
export function assertServices(
  { project }: Pick<LoadedStack, "project">,
  { services = [] }: PlanOptions,
): void {
  const unknown = services.find((service) => !Object.hasOwn(project.services, service));
  if (unknown === undefined) return;
  throw new AppError("invalid", `body.services: ${unknown} is not a service of ${project.name}`);
}
