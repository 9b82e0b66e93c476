/** Tasks of services as the API shows them. @module */

import type { Node } from "../../engine/swarm_nodes.ts";
import type { Service, Task } from "../../engine/swarm.ts";
import { engineTime } from "../containers/engine_time.ts";
import { hostnameOf } from "./quorum.ts";
import { pinnedDigest, shortImage } from "./services.ts";

/** A node, by its host name if it is known. */
export interface TaskNode {
  id: string;
  hostname: string;
}

export interface TaskView {
  id: string;
  service: { id: string; name: string };
  /** Number of the replica from 1; `null` for a global service. */
  slot: number | null;
  /** `null` until a node is chosen. */
  node: TaskNode | null;
  /** E.g. `running`, `failed`, `rejected`. */
  state: string;
  desiredState: string;
  message: string;
  error: string | null;
  exitCode: number | null;
  image: string;
  digest: string | null;
  containerId: string | null;
  createdAt: string | null;
  /** By the clock of its node: last change of the state. */
  changedAt: string | null;
  /** The task that runs now instead of this one; `null` for a current task. */
  replacement: { id: string; node: TaskNode | null; state: string } | null;
}

/** Names that tasks are shown with. */
export interface TaskNames {
  nodes: ReadonlyMap<string, Node>;
  services: ReadonlyMap<string, Service>;
}

/** Names by id. */
export const namesOf = (nodes: readonly Node[], services: readonly Service[]): TaskNames => ({
  nodes: new Map(nodes.map((node) => [node.ID, node])),
  services: new Map(services.map((service) => [service.ID, service])),
});

/**
 * Tasks, current ones first, then the newest.
 *
 * @param all Also holds the tasks that replaced them.
 */
export function toTaskViews(
  tasks: readonly Task[],
  all: readonly Task[],
  names: TaskNames,
): TaskView[] {
  const newest = newestOfSlots(all);
  return tasks.toSorted(compareTasks).map((task) => toView(task, names, newest.get(slotOf(task))));
}

/** A global service has one slot on each node. */
const slotOf = ({ ServiceID, Slot, NodeID = "" }: Task) => `${ServiceID} ${Slot || NodeID}`;

function newestOfSlots(tasks: readonly Task[]): Map<string, Task> {
  const newest = new Map<string, Task>();
  for (const task of tasks) {
    const slot = slotOf(task);
    if (task.CreatedAt > (newest.get(slot)?.CreatedAt ?? "")) newest.set(slot, task);
  }
  return newest;
}

const isCurrent = ({ DesiredState }: Task) => DesiredState === "running" ? 0 : 1;

const compareTasks = (a: Task, b: Task) =>
  isCurrent(a) - isCurrent(b) || (a.Slot ?? 0) - (b.Slot ?? 0) ||
  (a.CreatedAt < b.CreatedAt ? 1 : -1);

function toView(task: Task, names: TaskNames, newest: Task | undefined): TaskView {
  const { Status, Spec } = task;
  const image = Spec?.ContainerSpec?.Image ?? "";
  const { ContainerID, ExitCode } = Status.ContainerStatus ?? {};
  return {
    id: task.ID,
    service: {
      id: task.ServiceID,
      name: names.services.get(task.ServiceID)?.Spec.Name ?? task.ServiceID,
    },
    slot: task.Slot || null,
    node: nodeOf(task, names),
    state: Status.State,
    desiredState: task.DesiredState,
    message: Status.Message ?? "",
    error: Status.Err || null,
    exitCode: hasEnded(task) ? ExitCode ?? null : null,
    image: shortImage(image),
    digest: pinnedDigest(image),
    containerId: ContainerID || null,
    createdAt: engineTime(task.CreatedAt),
    changedAt: engineTime(Status.Timestamp),
    replacement: newest && newest.ID !== task.ID
      ? { id: newest.ID, node: nodeOf(newest, names), state: newest.Status.State }
      : null,
  };
}

/** The engine reports an exit code of 0 for a running container, too. */
const hasEnded = ({ Status }: Task) =>
  ["complete", "failed", "shutdown", "rejected", "orphaned", "remove"].includes(Status.State);

function nodeOf({ NodeID }: Task, { nodes }: TaskNames): TaskNode | null {
  if (!NodeID) return null;
  const node = nodes.get(NodeID);
  return { id: NodeID, hostname: node ? hostnameOf(node) : NodeID };
}
