/**
 * Which containers make up which stack: by the labels of compose and of swarms.
 *
 * @module
 */

import type { Container } from "../../state/inventory.ts";
import { readMark } from "../rebuild/marks.ts";
import { type Dependency, parseDependsOn } from "./order.ts";
import {
  SERVICE_LABEL,
  shortImage,
  STACK_LABEL,
  type SwarmService,
  TASK_LABEL,
} from "../swarm/swarm.ts";

export const STACK_KINDS = ["compose", "swarm"] as const;
export type StackKind = (typeof STACK_KINDS)[number];

/** A stack taken apart. */
export interface Stack {
  name: string;
  kind: StackKind;
  /** By name. */
  services: StackService[];
}

export interface StackService {
  name: string;
  image: string;
  /** By name; in a swarm those on this node. */
  containers: Container[];
  /** What its containers' labels say; a swarm has no order. */
  dependencies: Dependency[];
  /** As the swarm's manager sees it, where this engine is one. */
  swarm: SwarmService | undefined;
}

const DEPENDS_ON_LABEL = "com.docker.compose.depends_on";
const ONE_OFF_LABEL = "com.docker.compose.oneoff";

/** A service with the stack that it belongs to. */
interface Member {
  stack: string;
  kind: StackKind;
  service: StackService;
}

/**
 * Groups containers by stack and service, both by name.
 *
 * @param containers Newest first.
 * @param swarmServices Without them, swarm stacks are what this node's containers tell.
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
  })).sort((a, b) => byName(a, b) || (a.kind < b.kind ? -1 : 1));
}

const isTask = ({ labels }: Container) => Boolean(labels[STACK_LABEL] && labels[SERVICE_LABEL]);

const { compare } = new Intl.Collator("en", { numeric: true });
const byName = (a: { name: string }, b: { name: string }) => compare(a.name, b.name);

/** Compose itself passes over what was made for one command only, e.g. by `docker compose run`. */
const isOneOff = ({ labels }: Container) => /^true$/i.test(labels[ONE_OFF_LABEL] ?? "");

function composeServices(containers: readonly Container[]): Member[] {
  const services = Map.groupBy(
    containers.filter((container) =>
      container.composeProject && !isOneOff(container) && !readMark(container.name)
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

/** What the swarm's manager tells, with those of its containers that are on this node. */
function managedServices(
  tasks: readonly Container[],
  services: readonly SwarmService[],
): Member[] {
  const byService = Map.groupBy(tasks, ({ labels }) => labels[SERVICE_LABEL]);
  return services.map((swarm) => {
    // The containers of a job are not meant to go on, so the manager does not list them.
    const isCurrent = ({ id, state }: Container) =>
      swarm.mode === "job" ? state === "running" : swarm.containerIds.has(id);
    const containers = (byService.get(swarm.name) ?? []).filter(isCurrent).sort(byName);
    const { name, image, stack } = swarm;
    return { stack, kind: "swarm", service: { name, image, containers, dependencies: [], swarm } };
  });
}

/** What can be told without a manager: this node's containers. */
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
 * A swarm keeps the containers of ended tasks for a while beside those that took their places.
 *
 * @param tasks Newest first.
 * @returns The newest one for each place.
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
