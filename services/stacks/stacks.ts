/** Stacks: compose projects and swarm stacks. @module */

import { includesStack, isLimited } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../errors.ts";
import type { Container } from "../containers/inventory.ts";
import { type ContainerListItem, currentContainers, listItems } from "../containers/containers.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { selectCurrentVersion, selectStoredStacks } from "../../db/stack_versions.ts";
import {
  compareStacks,
  groupStacks,
  type Stack,
  type StackKind,
  type StackService,
} from "./groups.ts";
import { readSwarmServices, type SwarmService } from "../swarm/services.ts";

/**
 * - `healthy`: every service has containers, all of them are running or have finished, and none is
 *   unhealthy.
 * - `stopped`: no container is running, paused or restarting.
 * - `degraded`: any other state.
 */
export const STACK_STATUSES = ["healthy", "degraded", "stopped"] as const;
type StackStatus = (typeof STACK_STATUSES)[number];

/** Number of containers by state. */
interface ContainerTally {
  containerCount: number;
  running: number;
  /** All states except running and paused. */
  stopped: number;
  /** Those of `stopped` that have done their work, see `finishedContainers()`. */
  finished: number;
  /** Running containers with a failing health check. */
  unhealthy: number;
}

interface StackSummary extends ContainerTally {
  name: string;
  kind: StackKind;
  /** Number of services. */
  services: number;
  status: StackStatus;
  /** Whether `status` is `healthy`. */
  allHealthy: boolean;
}

/** A container in the list of stacks. */
type StackMember = Pick<Container, "id" | "name" | "image" | "state" | "health">;

/** A stack in the list of stacks. */
interface StackListItem extends StackSummary {
  /** Of a swarm stack: the containers on this node. */
  containers: StackMember[];
}

/** A service in the details of a stack. */
interface StackServiceDetail {
  name: string;
  image: string;
  /** Names of services. */
  dependsOn: string[];
  /** Of a swarm stack: the containers on this node. */
  containers: ContainerListItem[];
}

interface StackDetail extends Omit<StackSummary, "services"> {
  services: StackServiceDetail[];
  /** The working directory of compose; `null` for a swarm stack. */
  workingDir: string | null;
  configFiles: string[];
  /** Whether its sources are stored here. */
  hasSources: boolean;
}

export type StackDeps = ReadDeps & Pick<Deps, "db" | "swarm">;

const WORKING_DIR_LABEL = "com.docker.compose.project.working_dir";
const CONFIG_FILES_LABEL = "com.docker.compose.project.config_files";

/** The stacks of the given containers, by name. One-off containers do not belong to a stack. */
export function summarizeStacks(containers: readonly Container[]): StackSummary[] {
  return groupStacks(containers, undefined).map(summarize);
}

/**
 * All compose projects, also those that only have stored sources, and, if the engine manages a swarm,
 * its stacks; by name.
 */
export async function listStacks(deps: StackDeps): Promise<StackListItem[]> {
  return (await readStacks(deps)).map((stack) => ({
    ...summarize(stack),
    containers: stack.services.flatMap(({ containers }) => containers).map(toMember),
  }));
}

const toMember = ({ id, name, image, state, health }: Container): StackMember => ({
  id,
  name,
  image,
  state,
  health,
});

/**
 * The version of the list of stacks; `undefined` while the inventory is not live, and on a swarm
 * manager, because the inventory does not cover other nodes.
 */
export function stacksVersion(
  { db, inventory, swarm }: Pick<Deps, "db" | "inventory" | "swarm">,
): string | undefined {
  if (!inventory.live || !swarm.isKnownInactive()) return undefined;
  const stored = selectStoredStacks(db).map(({ stack }) => stack);
  return [inventory.revision, ...stored].join(" ");
}

/** @throws {AppError} `not_found` */
export async function getStack(
  deps: StackDeps & Pick<Deps, "alerts" | "config" | "now" | "stats">,
  name: string,
  kind?: StackKind,
): Promise<StackDetail> {
  const stack = await findStack(deps, name, kind);
  const label = (name: string) =>
    stack.services.flatMap(({ containers }) => containers)
      .map(({ labels }) => labels[name]).find((value) => value);
  return {
    ...summarize(stack),
    services: stack.services.map(({ name, image, containers, dependencies }) => ({
      name,
      image,
      dependsOn: dependencies.map(({ service }) => service),
      containers: listItems(deps, containers),
    })),
    workingDir: label(WORKING_DIR_LABEL) ?? null,
    configFiles: label(CONFIG_FILES_LABEL)?.split(",").filter(Boolean) ?? [],
    hasSources: selectCurrentVersion(deps.db, name)?.kind === stack.kind,
  };
}

/**
 * Finds a stack. If a compose project and a swarm stack have the same name, `kind` selects one;
 * the default is the compose project.
 *
 * @throws {AppError} `not_found`
 */
export async function findStack(deps: StackDeps, name: string, kind?: StackKind): Promise<Stack> {
  const stack = (await readStacks(deps))
    .find((stack) => stack.name === name && (kind === undefined || stack.kind === kind));
  if (!stack) throw notFound("Stack", name);
  return stack;
}

function statusOf({ services }: Stack, tallies: readonly ContainerTally[]): StackStatus {
  const isHealthy = ({ swarm }: StackService, at: number) => {
    const { containerCount, running, finished, unhealthy } = tallies[at]!;
    if (containerCount > 0 && running + finished === containerCount) return unhealthy === 0;
    return swarm?.mode === "job";
  };
  if (!services.some(isActive)) return "stopped";
  return services.every(isHealthy) ? "healthy" : "degraded";
}

const hasSucceeded = ({ state, exitCode }: Container): boolean =>
  state === "exited" && exitCode === 0;

/** Whether every container of the service exited with status 0. */
export const hasCompleted = ({ containers }: Pick<StackService, "containers">): boolean =>
  containers.length > 0 && containers.every(hasSucceeded);

/**
 * The containers of a stack that have done their work and need not run: they exited with 0, and the
 * Compose file says that they end by themselves, with `restart: "no"` or because another service
 * waits for their completion. Without either, an exit with 0 may be a stop by a user. None while the
 * whole stack is stopped.
 */
export function finishedContainers({ kind, services }: Stack): ReadonlySet<Container> {
  if (kind !== "compose" || !services.some(isActive)) return new Set();
  const awaited = new Set(
    services.flatMap(({ dependencies }) => dependencies)
      .filter(({ condition }) => condition === "service_completed_successfully")
      .map(({ service }) => service),
  );
  return new Set(
    services.flatMap(({ name, containers }) =>
      containers.filter((container) =>
        hasSucceeded(container) &&
        (awaited.has(name) || container.details.restartPolicy.name === "no")
      )
    ),
  );
}

async function readStacks(deps: StackDeps): Promise<Stack[]> {
  const [containers, swarmServices] = await Promise.all([
    currentContainers(deps),
    readSwarmServices(deps),
  ]);
  return withStored(deps, groupStacks(containers, servicesInScope(deps, swarmServices)));
}

/** Adds stacks that have sources, but no containers. */
function withStored({ db, inventory: { scope } }: StackDeps, stacks: Stack[]): Stack[] {
  const isShown = ({ stack, kind }: { stack: string; kind: StackKind }) =>
    !stacks.some((other) => other.name === stack && other.kind === kind) &&
    (!isLimited(scope) || (scope.containers === null && includesStack(scope, stack)));
  const stored = selectStoredStacks(db).filter(isShown)
    .map(({ stack, kind }): Stack => ({ name: stack, kind, services: [] }));
  return stored.length === 0 ? stacks : [...stacks, ...stored].sort(compareStacks);
}

/**
 * The services of the stacks in the scope. A scope of single containers has no services, because
 * these include containers on other nodes.
 */
function servicesInScope(
  { inventory: { scope } }: StackDeps,
  services: readonly SwarmService[] | undefined,
): readonly SwarmService[] | undefined {
  if (isLimited(scope) && scope.containers !== null) return undefined;
  return services?.filter(({ stack }) => includesStack(scope, stack));
}

function summarize(stack: Stack): StackSummary {
  const done = finishedContainers(stack);
  const tallies = stack.services.map((service) => countContainers(service, done));
  const total: ContainerTally = {
    containerCount: 0,
    running: 0,
    stopped: 0,
    finished: 0,
    unhealthy: 0,
  };
  for (const { containerCount, running, stopped, finished, unhealthy } of tallies) {
    total.containerCount += containerCount;
    total.running += running;
    total.stopped += stopped;
    total.finished += finished;
    total.unhealthy += unhealthy;
  }
  const status = statusOf(stack, tallies);
  return {
    name: stack.name,
    kind: stack.kind,
    services: stack.services.length,
    ...total,
    status,
    allHealthy: status === "healthy",
  };
}

function countContainers(
  { containers, swarm }: StackService,
  done: ReadonlySet<Container>,
): ContainerTally {
  const running = containers.filter(({ state }) => state === "running");
  const paused = containers.filter(({ state }) => state === "paused");
  const unhealthy = running.filter(({ health }) => health === "unhealthy").length;
  if (swarm) {
    // During an update more tasks than desired may be running.
    const containerCount = Math.max(swarm.desired, swarm.running);
    const stopped = containerCount - swarm.running;
    return { containerCount, running: swarm.running, stopped, finished: 0, unhealthy };
  }
  return {
    containerCount: containers.length,
    running: running.length,
    stopped: containers.length - running.length - paused.length,
    finished: containers.filter((container) => done.has(container)).length,
    unhealthy,
  };
}

/** A container in a restart loop is failing, but was not stopped. */
function isActive({ containers, swarm }: StackService): boolean {
  if (swarm) return swarm.desired > 0 || swarm.running > 0;
  return containers.some(({ state }) =>
    state === "running" || state === "paused" || state === "restarting"
  );
}
