/**
 * Containers: what a list shows of them, and what runs in them.
 *
 * @module
 */

import { containerTop } from "../../engine/containers.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Container, ContainerState } from "../inventory.ts";
import { currentContainers, type ReadDeps, resolveContainer } from "./container_reads.ts";
import { statusText } from "./container_status.ts";

export { currentContainers, resolveContainer } from "./container_reads.ts";

/** A container as lists and frames show it. */
export type ContainerListItem =
  & Omit<Container, "attachments" | "volumes" | "finishedAt" | "details">
  & {
    /** In words, e.g. "Up 3 minutes (healthy)". */
    status: string;
    /** Names. */
    networks: string[];
  };

/** What a list is narrowed by; all given ones have to fit. */
export interface ContainerFilter {
  state?: ContainerState | undefined;
  /** Name of a compose project or a swarm stack. */
  stack?: string | undefined;
  /** Part of the container's name. */
  name?: string | undefined;
}

export function listItem(container: Container, now: Date): ContainerListItem {
  const { attachments, volumes: _, finishedAt: __, details: ___, ...shown } = container;
  return {
    ...shown,
    status: statusText(container, now),
    networks: attachments.map(({ network }) => network),
  };
}

/** Containers in every state, newest first. */
export async function listContainers(
  deps: ReadDeps & Pick<Deps, "now">,
  { state, stack, name }: ContainerFilter = {},
): Promise<ContainerListItem[]> {
  const now = deps.now();
  return (await currentContainers(deps))
    .filter((container) =>
      (state === undefined || container.state === state) &&
      (stack === undefined || stackOf(container) === stack) &&
      (name === undefined || container.name.includes(name))
    )
    .map((container) => listItem(container, now));
}

/**
 * Names the state that a list is made of; it also changes with the clock, since "Up 3 seconds"
 * does. `undefined` while nobody follows the engine.
 */
export function listVersion({ inventory, now }: Pick<Deps, "inventory" | "now">) {
  if (!inventory.live) return undefined;
  return `${inventory.revision}.${Math.floor(now().getTime() / 1000)}`;
}

/** The compose project or swarm stack that a container belongs to. */
function stackOf({ composeProject, labels }: Pick<Container, "composeProject" | "labels">) {
  return composeProject ?? labels["com.docker.stack.namespace"] ?? null;
}

/** Processes in a container, as `ps` shows them. */
export async function listProcesses(
  deps: ReadDeps,
  ref: string,
): Promise<{ titles: string[]; processes: string[][] }> {
  const container = await resolveContainer(deps, ref);
  assertRunning(container);
  const { Titles, Processes } = await containerTop(deps.engine, container.id);
  return { titles: Titles, processes: Processes ?? [] };
}

/** @throws {AppError} `conflict` */
export function assertRunning({ name, state }: Container): void {
  if (state !== "running") {
    throw new AppError("conflict", `Container ${name} is not running, but ${state}`);
  }
}
