/**
 * Stacks: containers that belong together, as a compose project or as a stack of a swarm.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import { type ContainerListItem, currentContainers, listItems } from "../containers/containers.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { groupStacks, type Stack, type StackKind, type StackService } from "./groups.ts";
import { isKnownNoManager, readSwarmServices } from "../swarm/swarm.ts";

/**
 * - `healthy`: every service has containers, all of them run, and none is unhealthy. A service
 *   that others only wait for to complete (`service_completed_successfully`) is well when it did.
 * - `stopped`: no container runs, is paused or is being restarted.
 * - `degraded`: everything between.
 */
export const STACK_STATUSES = ["healthy", "degraded", "stopped"] as const;
export type StackStatus = (typeof STACK_STATUSES)[number];

/** How many containers are in which state. */
export interface Tally {
  containerCount: number;
  running: number;
  /** Every state but running and paused. */
  stopped: number;
  /** Of the running ones. */
  unhealthy: number;
}

export interface StackSummary extends Tally {
  name: string;
  kind: StackKind;
  /** How many services it has. */
  services: number;
  status: StackStatus;
  /** Whether `status` is `healthy`. */
  allHealthy: boolean;
}

/** A container as the list of stacks shows it. */
export type StackMember = Pick<Container, "id" | "name" | "image" | "state" | "health">;

/** A stack as the list shows it. */
export interface StackListItem extends StackSummary {
  /** In a swarm those on this node. */
  containers: StackMember[];
}

/** A service as the detail of its stack shows it. */
export interface StackServiceDetail {
  name: string;
  image: string;
  /** In a swarm those on this node. */
  containers: ContainerListItem[];
}

export interface StackDetail extends Omit<StackSummary, "services"> {
  services: StackServiceDetail[];
  /** Where compose was run; `null` for a swarm stack. */
  workingDir: string | null;
  configFiles: string[];
}

type StackDeps = ReadDeps & Pick<Deps, "now">;

const WORKING_DIR_LABEL = "com.docker.compose.project.working_dir";
const CONFIG_FILES_LABEL = "com.docker.compose.project.config_files";

/** The stacks that containers belong to, by name. One-off containers count for none. */
export function summarizeStacks(containers: readonly Container[]): StackSummary[] {
  return groupStacks(containers, undefined).map(summarize);
}

/** All stacks by name: compose projects, and where the engine manages a swarm its stacks. */
export async function listStacks(deps: StackDeps): Promise<StackListItem[]> {
  return (await readStacks(deps)).map((stack) => ({
    ...summarize(stack),
    containers: stack.services.flatMap(({ containers }) => containers).map(asMember),
  }));
}

const asMember = ({ id, name, image, state, health }: Container): StackMember => ({
  id,
  name,
  image,
  state,
  health,
});

/**
 * Names the state that a list is made of; `undefined` while nobody follows the engine, and where
 * it manages a swarm, of whose other nodes nothing is told here.
 */
export function stacksVersion(deps: Pick<Deps, "engine" | "inventory" | "now">) {
  return deps.inventory.live && isKnownNoManager(deps)
    ? String(deps.inventory.revision)
    : undefined;
}

/** @throws {AppError} `not_found` */
export async function getStack(
  deps: StackDeps & Pick<Deps, "stats">,
  name: string,
  kind?: StackKind,
): Promise<StackDetail> {
  const stack = await findStack(deps, name, kind);
  const label = (name: string) =>
    stack.services.flatMap(({ containers }) => containers)
      .map(({ labels }) => labels[name]).find((value) => value);
  return {
    ...summarize(stack),
    services: stack.services.map(({ name, image, containers }) => ({
      name,
      image,
      containers: listItems(deps, containers),
    })),
    workingDir: label(WORKING_DIR_LABEL) ?? null,
    configFiles: label(CONFIG_FILES_LABEL)?.split(",").filter(Boolean) ?? [],
  };
}

/**
 * Finds a stack. Where a compose project and a swarm stack have the same name, `kind` decides;
 * without it the project is meant.
 *
 * @throws {AppError} `not_found`
 */
export async function findStack(
  deps: StackDeps,
  name: string,
  kind?: StackKind,
): Promise<Stack> {
  const stack = (await readStacks(deps))
    .find((stack) => stack.name === name && (kind === undefined || stack.kind === kind));
  if (!stack) throw notFound("Stack", name);
  return stack;
}

/** How the parts of a stack are doing, in one word. */
function statusOf(stack: Stack): StackStatus {
  const jobs = jobsOf(stack);
  const isWell = (service: StackService) => {
    const { containerCount, running, unhealthy } = tally(service);
    if (containerCount > 0 && running === containerCount) return unhealthy === 0;
    return service.swarm?.mode === "job" || (jobs.has(service.name) && hasCompleted(service));
  };
  if (!stack.services.some(isAlive)) return "stopped";
  return stack.services.every(isWell) ? "healthy" : "degraded";
}

/** Whether every container of the service ended by itself and without a failure. */
export function hasCompleted({ containers }: StackService): boolean {
  return containers.length > 0 &&
    containers.every(({ state, exitCode }) => state === "exited" && exitCode === 0);
}

async function readStacks(deps: StackDeps): Promise<Stack[]> {
  const [containers, swarmServices] = await Promise.all([
    currentContainers(deps),
    readSwarmServices(deps),
  ]);
  return groupStacks(containers, swarmServices);
}

function summarize(stack: Stack): StackSummary {
  const total: Tally = { containerCount: 0, running: 0, stopped: 0, unhealthy: 0 };
  for (const service of stack.services) {
    const { containerCount, running, stopped, unhealthy } = tally(service);
    total.containerCount += containerCount;
    total.running += running;
    total.stopped += stopped;
    total.unhealthy += unhealthy;
  }
  const status = statusOf(stack);
  return {
    name: stack.name,
    kind: stack.kind,
    services: stack.services.length,
    ...total,
    status,
    allHealthy: status === "healthy",
  };
}

function tally({ containers, swarm }: StackService): Tally {
  const running = containers.filter(({ state }) => state === "running");
  const paused = containers.filter(({ state }) => state === "paused");
  const unhealthy = running.filter(({ health }) => health === "unhealthy").length;
  if (swarm) {
    // While an update goes on there may be more than wanted.
    const containerCount = Math.max(swarm.desired, swarm.running);
    const stopped = containerCount - swarm.running;
    return { containerCount, running: swarm.running, stopped, unhealthy };
  }
  return {
    containerCount: containers.length,
    running: running.length,
    stopped: containers.length - running.length - paused.length,
    unhealthy,
  };
}

/** One that is restarted over and over is in trouble, but nobody stopped it. */
function isAlive({ containers, swarm }: StackService): boolean {
  if (swarm) return swarm.desired > 0 || swarm.running > 0;
  return containers.some(({ state }) =>
    state === "running" || state === "paused" || state === "restarting"
  );
}

/** Services that another one waits for to complete. */
function jobsOf({ services }: Stack): Set<string> {
  return new Set(
    services.flatMap(({ dependencies }) => dependencies)
      .filter(({ condition }) => condition === "service_completed_successfully")
      .map(({ service }) => service),
  );
}
