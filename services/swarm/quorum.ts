/** The quorum of a swarm's managers. @module */

import type { Node, NodeSpec } from "../../engine/swarm_nodes.ts";
import { AppError } from "../errors.ts";

export interface Quorum {
  /** Number of managers. */
  managers: number;
  /** Those that the leader reaches; `null` without a leader. */
  reachable: number | null;
  /** Managers without which nothing can be changed: more than half. */
  needed: number;
  isKept: boolean;
}

export const hostnameOf = ({ ID, Description }: Pick<Node, "ID" | "Description">): string =>
  Description?.Hostname || ID;

/** Whether a node is a manager that the leader reaches. */
export const isReachable = ({ ManagerStatus }: Pick<Node, "ManagerStatus">): boolean =>
  ManagerStatus?.Reachability === "reachable";

export function quorumOf(nodes: readonly Node[]): Quorum {
  const managers = nodes.filter(({ Spec }) => Spec.Role === "manager");
  const reachable = managers.filter(isReachable).length;
  return toQuorum(managers.length, reachable);
}

const needs = (managers: number) => Math.floor(managers / 2) + 1;

function toQuorum(managers: number, reachable: number): Quorum {
  const needed = needs(managers);
  return { managers, reachable, needed, isKept: reachable >= needed };
}

/**
 * Refuses a change of roles after which too few managers would be reachable.
 *
 * @throws {AppError} `conflict`
 */
export function assertQuorumAfter(
  nodes: readonly Node[],
  node: Node,
  { Role }: Pick<NodeSpec, "Role">,
): void {
  if (node.Spec.Role === Role) return;
  const name = hostnameOf(node);
  const { managers, reachable } = quorumOf(nodes);
  const isDemotion = Role === "worker";
  if (isDemotion && managers <= 1) {
    throw new AppError("conflict", `Cannot demote ${name}: it is the last manager`);
  }
  const isUp = isDemotion ? isReachable(node) : node.Status.State === "ready";
  const sign = isDemotion ? -1 : 1;
  const after = toQuorum(managers + sign, (reachable ?? 0) + (isUp ? sign : 0));
  if (after.isKept) return;
  throw new AppError(
    "conflict",
    `Cannot ${isDemotion ? "demote" : "promote"} ${name}: only ${after.reachable} of ` +
      `${after.managers} managers could be reached, and ${after.needed} are needed`,
  );
}
