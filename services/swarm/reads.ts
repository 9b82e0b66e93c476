/** Services and tasks of the swarm, as a caller may see them. @module */

import {
  type Service,
  serviceInspect,
  serviceList,
  type Task,
  taskList,
} from "../../engine/swarm.ts";
import { nodeInspect, nodeList } from "../../engine/swarm_nodes.ts";
import type { Caller } from "../access/caller.ts";
import { includesStack, isLimited } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../errors.ts";
import { compareNatural } from "../text/natural_order.ts";
import { onManager } from "./access.ts";
import { type ServiceDetail, type ServiceListItem, toDetail, toListItem } from "./service_views.ts";
import { STACK_LABEL } from "./services.ts";
import { namesOf, type TaskView, toTaskViews } from "./task_views.ts";

type EngineDeps = Pick<Deps, "engine">;
type Scoped = Pick<Caller, "scope">;

/** Services by name. @throws {AppError} `conflict` on an engine that does not manage a swarm. */
export function listServices(deps: EngineDeps, caller: Scoped): Promise<ServiceListItem[]> {
  return onManager(deps, async () => {
    const [services, tasks] = await Promise.all([serviceList(deps.engine), currentTasks(deps)]);
    const byService = Map.groupBy(tasks, ({ ServiceID }) => ServiceID);
    return services.filter((service) => isVisible(caller, service))
      .map((service) => toListItem(service, byService.get(service.ID) ?? []))
      .sort((a, b) => compareNatural(a.name, b.name));
  });
}

/** @param ref Id, name, or unambiguous prefix of an id. @throws {AppError} `not_found` */
export function getService(deps: EngineDeps, caller: Scoped, ref: string): Promise<ServiceDetail> {
  return onManager(deps, async () => {
    const service = await findService(deps, caller, ref);
    const [tasks, nodes] = await Promise.all([tasksOf(deps, service), nodeList(deps.engine)]);
    return toDetail(service, tasks, namesOf(nodes, [service]));
  });
}

/** Tasks of a service, also the last ended ones. @throws {AppError} `not_found` */
export function listServiceTasks(
  deps: EngineDeps,
  caller: Scoped,
  ref: string,
): Promise<TaskView[]> {
  return onManager(deps, async () => {
    const service = await findService(deps, caller, ref);
    const [tasks, nodes] = await Promise.all([tasksOf(deps, service), nodeList(deps.engine)]);
    return toTaskViews(tasks, tasks, namesOf(nodes, [service]));
  });
}

/**
 * Tasks of a node, also the last ended ones, and where their replacements run.
 *
 * @throws {AppError} `not_found`
 */
export function listNodeTasks(deps: EngineDeps, ref: string): Promise<TaskView[]> {
  return onManager(deps, async () => {
    const { engine } = deps;
    const { ID } = await nodeInspect(engine, ref);
    const [own, current, nodes, services] = await Promise.all([
      taskList(engine, { filters: { node: [ID] } }),
      currentTasks(deps),
      nodeList(engine),
      serviceList(engine),
    ]);
    return toTaskViews(own, [...own, ...current], namesOf(nodes, services));
  });
}

/** @throws {AppError} `not_found`, also for a service outside of the caller's scope. */
export async function findService(
  { engine }: EngineDeps,
  caller: Scoped,
  ref: string,
): Promise<Service> {
  try {
    const service = await serviceInspect(engine, ref);
    if (isVisible(caller, service)) return service;
  } catch (error) {
    // The engine's message about an ambiguous prefix would name services that the caller may not see.
    if (!isLimited(caller.scope)) throw error;
  }
  throw notFound("Service", ref);
}

/** All tasks of a service that the swarm still knows. */
export const tasksOf = ({ engine }: EngineDeps, { ID }: Pick<Service, "ID">): Promise<Task[]> =>
  taskList(engine, { filters: { service: [ID] } });

/** Without the ended ones, of which the swarm keeps several of each slot. */
const currentTasks = ({ engine }: EngineDeps): Promise<Task[]> =>
  taskList(engine, { filters: { "desired-state": ["running"] } });

/** A service without a stack is in no scope that is limited. */
function isVisible({ scope }: Scoped, { Spec }: Service): boolean {
  if (!isLimited(scope)) return true;
  const stack = Spec.Labels?.[STACK_LABEL];
  return stack !== undefined && includesStack(scope, stack);
}

/** A task with its name in logs. */
export interface TaskName {
  id: string;
  /** E.g. `shop_web.2`; of a global service with the node, e.g. `shop_agent.edge-1`. */
  name: string;
  /** Host name; empty until a node is chosen. */
  node: string;
}

/** The tasks of a service that the swarm still knows, with their names. */
export async function namedTasks(deps: EngineDeps, service: Service): Promise<TaskName[]> {
  const [tasks, nodes] = await Promise.all([tasksOf(deps, service), nodeList(deps.engine)]);
  return toTaskViews(tasks, tasks, namesOf(nodes, [service])).map((
    { id, slot, node, service },
  ) => ({
    id,
    name: `${service.name}.${slot ?? node?.hostname ?? id}`,
    node: node?.hostname ?? "",
  }));
}
