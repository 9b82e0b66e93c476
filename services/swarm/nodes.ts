/** Nodes of the swarm: list, details, changes. @module */

import { type Task, taskList } from "../../engine/swarm.ts";
import {
  type Availability,
  type Node,
  nodeInspect,
  nodeList,
  type NodeRole,
  nodeUpdate,
} from "../../engine/swarm_nodes.ts";
import { systemInfo } from "../../engine/system.ts";
import { type Change, definedFields } from "../change.ts";
import { engineTime } from "../containers/engine_time.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { compareNatural } from "../text/natural_order.ts";
import { onManager } from "./access.ts";
import { assertQuorumAfter, hostnameOf, isReachable } from "./quorum.ts";
import { retryOutOfSequence } from "./sequence.ts";

export { AVAILABILITIES, NODE_ROLES } from "../../engine/swarm_nodes.ts";

export interface NodeView {
  id: string;
  hostname: string;
  role: NodeRole;
  availability: Availability;
  /** `ready`, `down`, `disconnected` or `unknown`. */
  state: string;
  /** Why it is in this state; empty if all is well. */
  message: string;
  address: string;
  /** With the port; `null` for a worker. */
  managerAddress: string | null;
  isLeader: boolean;
  /** `null` for a worker. */
  isReachable: boolean | null;
  /** Whether it is the node of this engine. */
  isSelf: boolean;
  engineVersion: string;
  os: string;
  architecture: string;
  cpus: number;
  memoryBytes: number;
  labels: Record<string, string>;
  /** Number of tasks that run on it. */
  tasks: number;
  createdAt: string | null;
  /** By the engine's clock: last change of the node. */
  updatedAt: string | null;
}

/** Fields of a node that can be changed. */
export interface NodeSettings {
  availability: Availability;
  role: NodeRole;
  labels: Record<string, string>;
}

type EngineDeps = Pick<Deps, "engine">;

/** Nodes by host name. @throws {AppError} `conflict` on an engine that does not manage a swarm. */
export function listNodes(deps: EngineDeps): Promise<NodeView[]> {
  return onManager(deps, async () => {
    const [nodes, tasks, self] = await Promise.all([
      nodeList(deps.engine),
      runningTasks(deps),
      ownNode(deps),
    ]);
    const byNode = Map.groupBy(tasks, ({ NodeID }) => NodeID);
    return nodes.map((node) => toView(node, byNode.get(node.ID) ?? [], self))
      .sort((a, b) => compareNatural(a.hostname, b.hostname));
  });
}

/** @param ref Id, host name, or unambiguous prefix of an id. @throws {AppError} `not_found` */
export function getNode(deps: EngineDeps, ref: string): Promise<NodeView> {
  return onManager(deps, async () => {
    const [node, tasks, self] = await Promise.all([
      nodeInspect(deps.engine, ref),
      runningTasks(deps),
      ownNode(deps),
    ]);
    return toView(node, tasks.filter(({ NodeID }) => NodeID === node.ID), self);
  });
}

/**
 * Changes a node. The swarm moves the tasks of a node that is drained in the background.
 *
 * @param change.labels Replaces all labels.
 * @throws {AppError} `not_found`; `conflict` for the demotion of the last manager or of this engine's node, a change after
 * which the quorum would be lost, and on an engine that does not manage a swarm.
 */
export async function changeNode(
  deps: EngineDeps & Pick<Deps, "swarm">,
  ref: string,
  change: Change<NodeSettings>,
): Promise<NodeView> {
  const id = await deps.swarm.inTurn(() => updateNode(deps, ref, change));
  return await getNode(deps, id);
}

/** One after another: each checks the quorum that the one before leaves. */
const updateNode = (
  { engine }: EngineDeps,
  ref: string,
  change: Change<NodeSettings>,
): Promise<string> =>
  onManager({ engine }, () =>
    retryOutOfSequence(async () => {
      const node = await nodeInspect(engine, ref);
      const { availability, role, labels } = change;
      const spec = {
        ...node.Spec,
        ...definedFields({ Availability: availability, Role: role, Labels: labels }),
      };
      assertQuorumAfter(await nodeList(engine), node, spec);
      if (node.Spec.Role !== spec.Role && node.ID === await ownNode({ engine })) {
        throw new AppError(
          "conflict",
          `Cannot demote ${
            hostnameOf(node)
          }: Longshore could not operate the swarm any more; use ` +
            "Longshore or docker node demote on another manager",
        );
      }
      await nodeUpdate(engine, node.ID, node.Version.Index, spec);
      return node.ID;
    }));

const runningTasks = async ({ engine }: EngineDeps): Promise<Task[]> =>
  (await taskList(engine, { filters: { "desired-state": ["running"] } }))
    .filter(({ Status }) => Status.State === "running");

const ownNode = async ({ engine }: EngineDeps) => (await systemInfo(engine)).Swarm?.NodeID;

function toView(node: Node, tasks: readonly Task[], self: string | undefined): NodeView {
  const { Spec, Status, Description, ManagerStatus } = node;
  const { Platform, Resources, Engine } = Description ?? {};
  return {
    id: node.ID,
    hostname: hostnameOf(node),
    role: Spec.Role,
    availability: Spec.Availability,
    state: Status.State,
    message: Status.Message ?? "",
    address: Status.Addr ?? "",
    managerAddress: ManagerStatus?.Addr ?? null,
    isLeader: ManagerStatus?.Leader ?? false,
    isReachable: ManagerStatus ? isReachable(node) : null,
    isSelf: node.ID === self,
    engineVersion: Engine?.EngineVersion ?? "",
    os: Platform?.OS ?? "",
    architecture: Platform?.Architecture ?? "",
    cpus: (Resources?.NanoCPUs ?? 0) / 1e9,
    memoryBytes: Resources?.MemoryBytes ?? 0,
    labels: Spec.Labels ?? {},
    tasks: tasks.length,
    createdAt: engineTime(node.CreatedAt),
    updatedAt: engineTime(node.UpdatedAt),
  };
}
