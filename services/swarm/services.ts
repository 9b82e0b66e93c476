/**
 * Services of swarm stacks and their tasks on all nodes, as the swarm manager reports them.
 *
 * @module
 */

import { EngineError } from "../../engine/errors.ts";
import { type Service, serviceList, type Task, taskList } from "../../engine/swarm.ts";
import type { Deps } from "../deps.ts";

/** Label of services and their containers: the name of the stack. */
export const STACK_LABEL = "com.docker.stack.namespace";

/** Label of a task's container: the full name of its service. */
export const SERVICE_LABEL = "com.docker.swarm.service.name";

/** Label of a task's container: the id of its service. */
export const SERVICE_ID_LABEL = "com.docker.swarm.service.id";

/** Label of a task's container: the id of the task. */
export const TASK_ID_LABEL = "com.docker.swarm.task.id";

/** Label of a task's container: `<service>.<slot>.<task id>`. */
export const TASK_LABEL = "com.docker.swarm.task.name";

/** Rules of the swarm for the number of tasks; only replicated services can be scaled. */
export const SWARM_MODES = ["replicated", "global", "job"] as const;
export type SwarmMode = (typeof SWARM_MODES)[number];

/** A service of a swarm stack. */
export interface SwarmService {
  id: string;
  /** With the stack name as prefix, e.g. `shop_web`. */
  name: string;
  stack: string;
  image: string;
  mode: SwarmMode;
  /** Number of tasks that should run. */
  desired: number;
  /** Number of those that are running. */
  running: number;
  /** Containers of the tasks that should run, on all nodes. */
  containerIds: ReadonlySet<string>;
}

/**
 * Reads the services that belong to stacks.
 *
 * @returns `undefined` if the engine does not manage a swarm.
 */
export async function readSwarmServices(
  { engine, swarm }: Pick<Deps, "engine" | "swarm">,
): Promise<SwarmService[] | undefined> {
  if (!await swarm.isActive()) return undefined;
  try {
    const [services, tasks] = await Promise.all([
      serviceList(engine, { filters: { label: [STACK_LABEL] } }),
      taskList(engine, { filters: { "desired-state": ["running"] } }),
    ]);
    const byService = Map.groupBy(tasks, ({ ServiceID }) => ServiceID);
    return services.map((service) => toSwarmService(service, byService.get(service.ID) ?? []));
  } catch (error) {
    // The node left the swarm or was demoted in the meantime.
    if (!(error instanceof EngineError && error.status === 503)) throw error;
    swarm.invalidate();
    return undefined;
  }
}

/** @param tasks The tasks of the service that should run. */
export function toSwarmService(service: Service, tasks: readonly Task[]): SwarmService {
  const { ID, Spec, ServiceStatus } = service;
  const mode = modeOf(service);
  const running = tasks.filter(({ Status }) => Status.State === "running");
  return {
    id: ID,
    name: Spec.Name ?? ID,
    stack: Spec.Labels?.[STACK_LABEL] ?? "",
    image: shortImage(Spec.TaskTemplate?.ContainerSpec?.Image ?? ""),
    mode,
    desired: mode === "replicated"
      ? replicasOf(service)
      : mode === "global"
      ? tasks.length
      : ServiceStatus?.RunningTasks ?? 0,
    // A job's tasks are meant to complete, so their desired state is not "running".
    running: mode === "job" ? ServiceStatus?.RunningTasks ?? 0 : running.length,
    containerIds: new Set(tasks.flatMap(({ Status }) => Status.ContainerStatus?.ContainerID || [])),
  };
}

export function modeOf({ Spec: { Mode } }: Pick<Service, "Spec">): SwarmMode {
  if (Mode?.ReplicatedJob || Mode?.GlobalJob) return "job";
  return Mode?.Global ? "global" : "replicated";
}

/** The desired number of tasks of a replicated service; defaults to 1. */
export function replicasOf({ Spec: { Mode } }: Service): number {
  return Mode?.Replicated?.Replicas ?? 1;
}

/** The image without the digest that the swarm pins: `nginx:1` for `nginx:1@sha256:...`. */
export function shortImage(image: string): string {
  const [name = "", digest] = image.split("@");
  return name === "" ? digest ?? "" : name;
}

/** The digest that the swarm has pinned, e.g. `sha256:…`; `null` without one. */
export const pinnedDigest = (image: string): string | null => image.split("@")[1] ?? null;
