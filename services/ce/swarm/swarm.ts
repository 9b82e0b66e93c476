/**
 * What a swarm's manager knows of stacks: their services, and how many tasks of each run on
 * whatever node. Engines that manage no swarm are asked for it once in a few seconds only.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import { EngineError } from "../../../engine/errors.ts";
import { type Service, serviceList, type Task, taskList } from "../../../engine/swarm.ts";
import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";

/** Label of services and of their containers: the stack. */
export const STACK_LABEL = "com.docker.stack.namespace";

/** Label of a task's container: the full name of its service. */
export const SERVICE_LABEL = "com.docker.swarm.service.name";

/** Label of a task's container: `<service>.<slot>.<task id>`. */
export const TASK_LABEL = "com.docker.swarm.task.name";

/** How long the answer holds whether the engine manages a swarm, in milliseconds. */
const MANAGER_CHECK_MS = 5_000;

/** What a service's number of tasks is given by; only that of replicated ones can be changed. */
export type SwarmMode = "replicated" | "global" | "job";

/** A service of a stack. */
export interface SwarmService {
  id: string;
  /** With the stack's name in front, as the engine shows it, e.g. `shop_web`. */
  name: string;
  stack: string;
  image: string;
  mode: SwarmMode;
  /** Tasks that shall run. */
  desired: number;
  /** Tasks that shall run and do. */
  running: number;
  /** Containers of the tasks that shall run, on whatever node. */
  containerIds: ReadonlySet<string>;
}

type SwarmDeps = Pick<Deps, "engine" | "now">;

/** The last answer of each engine, and the question that is under way. */
const roles = new WeakMap<
  Engine,
  { isManager: boolean | undefined; askedAt: number; asking: Promise<boolean> | undefined }
>();

/** Whether the engine is known to manage no swarm, without asking it. */
export function isKnownNoManager({ engine, now }: SwarmDeps): boolean {
  const role = roles.get(engine);
  return role?.isManager === false && now().getTime() - role.askedAt < MANAGER_CHECK_MS;
}

/** Whether the engine manages a swarm; the answer may be some seconds old. */
async function isSwarmManager({ engine, now }: SwarmDeps): Promise<boolean> {
  const role = roles.get(engine) ?? { isManager: undefined, askedAt: 0, asking: undefined };
  roles.set(engine, role);
  if (role.isManager !== undefined && now().getTime() - role.askedAt < MANAGER_CHECK_MS) {
    return role.isManager;
  }
  role.asking ??= askIfManager(engine).then((isManager) => {
    role.isManager = isManager;
    role.askedAt = now().getTime();
    return isManager;
  }).finally(() => role.asking = undefined);
  return await role.asking;
}

async function askIfManager(engine: Engine): Promise<boolean> {
  try {
    const { Swarm } = await systemInfo(engine);
    return Swarm?.LocalNodeState === "active" && Swarm.ControlAvailable === true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/**
 * Services that belong to stacks.
 *
 * @returns `undefined` where the engine manages no swarm.
 */
export async function readSwarmServices(deps: SwarmDeps): Promise<SwarmService[] | undefined> {
  const { engine } = deps;
  if (!await isSwarmManager(deps)) return undefined;
  try {
    const [services, tasks] = await Promise.all([
      serviceList(engine, { filters: { label: [STACK_LABEL] } }),
      taskList(engine, { filters: { "desired-state": ["running"] } }),
    ]);
    const byService = Map.groupBy(tasks, ({ ServiceID }) => ServiceID);
    return services.map((service) => asSwarmService(service, byService.get(service.ID) ?? []));
  } catch (error) {
    // It has left the swarm, or was demoted, since it was asked.
    if (!(error instanceof EngineError && error.status === 503)) throw error;
    roles.delete(engine);
    return undefined;
  }
}

/** @param tasks Those of the service that shall run. */
function asSwarmService(service: Service, tasks: readonly Task[]): SwarmService {
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
    // Tasks of jobs shall complete, so they are not among those that shall run.
    running: mode === "job" ? ServiceStatus?.RunningTasks ?? 0 : running.length,
    containerIds: new Set(
      tasks.flatMap(({ Status }) => Status.ContainerStatus?.ContainerID || []),
    ),
  };
}

export function modeOf({ Spec: { Mode } }: Service): SwarmMode {
  if (Mode?.ReplicatedJob || Mode?.GlobalJob) return "job";
  return Mode?.Global ? "global" : "replicated";
}

/** How many tasks a replicated service shall have; one where nothing is said. */
export function replicasOf({ Spec: { Mode } }: Service): number {
  return Mode?.Replicated?.Replicas ?? 1;
}

/** The swarm pins images by digest, `nginx:1@sha256:...`; people read the part before. */
export function shortImage(image: string): string {
  const [name = "", digest] = image.split("@");
  return name === "" ? digest ?? "" : name;
}
