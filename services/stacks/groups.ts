/** Groups containers into stacks by the labels of compose and swarm. @module */

import { compareNatural } from "../text/natural_order.ts";
import type { Container } from "../containers/inventory.ts";
import { type Dependency, parseDependsOn } from "../containers/order.ts";
import {
  SERVICE_LABEL,
  shortImage,
  STACK_LABEL,
  type SwarmService,
  TASK_LABEL,
} from "../swarm/services.ts";

export const STACK_KINDS = ["compose", "swarm"] as const;
export type StackKind = (typeof STACK_KINDS)[number];

/** A stack with its services. */
export interface Stack {
  name: string;
  kind: StackKind;
  /** By name. */
  services: StackService[];
}

export interface StackService {
  name: string;
  image: string;
  /** By name; of a swarm stack those on this node. */
  containers: Container[];
  /** From the labels of its containers; empty for a swarm stack. */
  dependencies: Dependency[];
  /** As the swarm manager reports it, if this engine is one. */
  swarm: SwarmService | undefined;
}

export const DEPENDS_ON_LABEL = "com.docker.compose.depends_on";
const ONE_OFF_LABEL = "com.docker.compose.oneoff";

/** A service and its stack. */
interface Member {
  stack: string;
  kind: StackKind;
  service: StackService;
}

/**
 * Groups containers by stack and service, both by name.
 *
 * @param containers Newest first.
 * @param swarmServices Without them, swarm stacks are derived from this node's containers.
 */
export function groupStacks(
  containers: readonly Container[],
  swarmServices: readonly SwarmService[] | undefined,
): Stack[] {
  const tasks = containers.filter(isTask);
  const members = [
    ...composeServices(containers.filter((container) => !isTask(container))),
    ...(swarmServices ? managedServices(tasks, swarmServices) : localServices(tasks)),
  ];
  const stacks = Map.groupBy(members, ({ stack, kind }) => JSON.stringify([stack, kind]));
  return [...stacks.values()].map((members) => ({
    name: members[0]!.stack,
    kind: members[0]!.kind,
    services: members.map(({ service }) => service).sort(byName),
  })).sort(compareStacks);
}

/** By name, then by kind. */
export const compareStacks = (a: Stack, b: Stack): number =>
  byName(a, b) || (a.kind < b.kind ? -1 : 1);

const isTask = ({ labels }: Container) => Boolean(labels[STACK_LABEL] && labels[SERVICE_LABEL]);

const byName = (a: { name: string }, b: { name: string }): number => compareNatural(a.name, b.name);

/**
 * A container of `docker compose run`, which compose itself does not count as part of the project.
 */
const isOneOff = ({ labels }: Container) => /^true$/i.test(labels[ONE_OFF_LABEL] ?? "");

function composeServices(containers: readonly Container[]): Member[] {
  const services = Map.groupBy(
    containers.filter((container) =>
      container.composeProject && !isOneOff(container) &&
      container.name === container.originalName
    ),
    ({ composeProject, composeService, name }) =>
      JSON.stringify([composeProject, composeService ?? name]),
  );
  return [...services.values()].map((replicas) => {
    const newest = replicas[0]!;
    const service = {
      name: newest.composeService ?? newest.name,
      image: newest.image,
      containers: replicas.sort(byName),
      dependencies: parseDependsOn(newest.labels[DEPENDS_ON_LABEL]),
      swarm: undefined,
    };
    return { stack: newest.composeProject!, kind: "compose", service };
  });
}

/** Services reported by the swarm manager, with their containers on this node. */
function managedServices(tasks: readonly Container[], services: readonly SwarmService[]): Member[] {
  const byService = Map.groupBy(tasks, ({ labels }) => labels[SERVICE_LABEL]);
  return services.map((swarm) => {
    // A job's tasks are meant to complete, so the manager does not list them as desired.
    const isCurrent = ({ id, state }: Container) =>
      swarm.mode === "job" ? state === "running" : swarm.containerIds.has(id);
    const containers = (byService.get(swarm.name) ?? []).filter(isCurrent).sort(byName);
    const { name, image, stack } = swarm;
    return { stack, kind: "swarm", service: { name, image, containers, dependencies: [], swarm } };
  });
}

/** Services derived from this node's containers, without a manager. */
function localServices(tasks: readonly Container[]): Member[] {
  const services = Map.groupBy(
    newestOfSlots(tasks),
    ({ labels }) => JSON.stringify([labels[STACK_LABEL], labels[SERVICE_LABEL]]),
  );
  return [...services.values()].map((containers) => {
    const { labels, image } = containers[0]!;
    const service = {
      name: labels[SERVICE_LABEL]!,
      image: shortImage(image),
      containers: containers.sort(byName),
      dependencies: [],
      swarm: undefined,
    };
    return { stack: labels[STACK_LABEL]!, kind: "swarm", service };
  });
}

/**
 * A swarm keeps the containers of ended tasks for a while after it replaced them.
 *
 * @param tasks Newest first.
 * @returns The newest task of each slot.
 */
function newestOfSlots(tasks: readonly Container[]): Container[] {
  const newest = new Map<string, Container>();
  for (const task of tasks) {
    // "<service>.<slot>.<task>"; a global service has the node's id instead of the slot.
    const slot = task.labels[TASK_LABEL]?.replace(/\.[^.]*$/, "") ?? task.id;
    if (!newest.has(slot)) newest.set(slot, task);
  }
  return [...newest.values()];
}
