/** The swarm as a whole: managers, quorum, and what is wrong with it. @module */

import { type Node, nodeList, type Swarm, swarmInspect } from "../../engine/swarm_nodes.ts";
import { type EngineInfo, systemInfo } from "../../engine/system.ts";
import { nodeCrypto } from "../builtins.ts";
import { engineTime } from "../containers/engine_time.ts";
import type { Deps } from "../deps.ts";
import { compareNatural } from "../text/natural_order.ts";
import { hasNoLeader, refusalOf, withoutSwarm } from "./access.ts";
import { hostnameOf, isReachable, type Quorum, quorumOf } from "./quorum.ts";

/** A manager of the swarm. */
interface Manager {
  id: string;
  /** `null` while the swarm has no leader. */
  hostname: string | null;
  /** With the port, e.g. `10.0.0.1:2377`. */
  address: string;
  isLeader: boolean;
  /** `null` while the swarm has no leader. */
  isReachable: boolean | null;
}

export interface Cluster {
  active: boolean;
  id: string | null;
  createdAt: string | null;
  /** Id of the node of this engine. */
  nodeId: string | null;
  role: "manager" | null;
  managers: Manager[];
  /** Number of nodes; `null` while unknown. */
  nodes: number | null;
  /** `null` without a swarm. */
  quorum: Quorum | null;
  /** End of the certificate authority. */
  caExpiresAt: string | null;
  warnings: string[];
}

const DAY_MS = 86_400_000;

/** A certificate authority that ends earlier is reported. */
const CA_WARNING_MS = 30 * DAY_MS;

const INACTIVE: Cluster = {
  active: false,
  id: null,
  createdAt: null,
  nodeId: null,
  role: null,
  managers: [],
  nodes: null,
  quorum: null,
  caExpiresAt: null,
  warnings: [],
};

/**
 * Describes the swarm, also while it has lost its quorum.
 *
 * @returns `active: false` if the engine is not part of a swarm.
 * @throws {AppError} `conflict` on Podman, on a worker, with the addresses of the managers, and on a
 * node whose swarm is locked or out of reach.
 */
export async function readCluster(
  { engine, now }: Pick<Deps, "engine" | "now">,
): Promise<Cluster> {
  const info = await systemInfo(engine);
  if (engine.kind === "podman") throw withoutSwarm();
  const { Swarm: own } = info;
  if ((own?.LocalNodeState || "inactive") === "inactive") return INACTIVE;
  const refusal = refusalOf(info);
  if (refusal) throw refusal;
  try {
    const [swarm, nodes] = await Promise.all([swarmInspect(engine), nodeList(engine)]);
    return describe(swarm, nodes, own?.NodeID ?? null, now());
  } catch (error) {
    if (!hasNoLeader(error)) throw error;
    return withoutLeader(own);
  }
}

function describe(swarm: Swarm, nodes: readonly Node[], nodeId: string | null, now: Date): Cluster {
  const quorum = quorumOf(nodes);
  const caExpiresAt = caEnd(swarm);
  return {
    active: true,
    id: swarm.ID,
    createdAt: engineTime(swarm.CreatedAt),
    nodeId,
    role: "manager",
    managers: nodes.flatMap((node) => node.ManagerStatus ? [toManager(node)] : [])
      .sort((a, b) => compareNatural(`${a.hostname} ${a.address}`, `${b.hostname} ${b.address}`)),
    nodes: nodes.length,
    quorum,
    caExpiresAt,
    warnings: [
      ...quorumWarnings(quorum, nodes.length),
      ...nodeWarnings(nodes),
      ...caWarnings(caExpiresAt, now),
    ],
  };
}

/** The engine still knows the addresses of the managers, but not which of them are reachable. */
function withoutLeader(own: EngineInfo["Swarm"]): Cluster {
  const managers = (own?.RemoteManagers ?? []).map(({ NodeID = "", Addr = "" }): Manager => ({
    id: NodeID,
    hostname: null,
    address: Addr,
    isLeader: false,
    isReachable: null,
  }));
  const needed = Math.floor(managers.length / 2) + 1;
  return {
    ...INACTIVE,
    active: true,
    nodeId: own?.NodeID ?? null,
    role: "manager",
    managers: managers.sort((a, b) => compareNatural(a.address, b.address)),
    quorum: { managers: managers.length, reachable: null, needed, isKept: false },
    warnings: ["The swarm has lost its quorum: services run on, but nothing can be changed"],
  };
}

const toManager = (node: Node): Manager => ({
  id: node.ID,
  hostname: hostnameOf(node),
  address: node.ManagerStatus?.Addr ?? "",
  isLeader: node.ManagerStatus?.Leader ?? false,
  isReachable: isReachable(node),
});

function quorumWarnings({ managers, reachable, needed }: Quorum, nodes: number): string[] {
  const warnings = [];
  if (managers % 2 === 0) {
    warnings.push(
      `${managers} managers tolerate no more failures than ${managers - 1}; ` +
        "use an odd number of managers",
    );
  }
  if (managers === 1 && nodes > 1) {
    warnings.push("The swarm has only one manager: while it is down, nothing can be changed");
  } else if (reachable === needed && nodes > 1) {
    warnings.push(
      `The quorum is one failure away: ${reachable} of ${managers} managers can be reached, ` +
        `and ${needed} are needed`,
    );
  }
  return warnings;
}

function nodeWarnings(nodes: readonly Node[]): string[] {
  const down = nodes.filter(({ Status }) => Status.State !== "ready").map(hostnameOf);
  const versions = Map.groupBy(
    nodes,
    ({ Description }) => Description?.Engine?.EngineVersion ?? "unknown",
  );
  const byVersion = [...versions].sort(([a], [b]) => compareNatural(a, b))
    .map(([version, on]) => `${version} on ${listed(on.map(hostnameOf))}`);
  const isIdle = nodes.every(({ Spec, Status }) =>
    Spec.Availability !== "active" || Status.State !== "ready"
  );
  return [
    ...(isIdle ? ["No node takes tasks: set the availability of one to active"] : []),
    ...(down.length > 0 ? [`Nodes down: ${listed(down)}`] : []),
    ...(versions.size > 1 ? [`Engine versions differ: ${byVersion.join("; ")}`] : []),
  ];
}

/** Most names in a warning. */
const LISTED_MAX = 10;

function listed(names: string[]): string {
  const shown = names.sort(compareNatural).slice(0, LISTED_MAX).join(", ");
  return names.length > LISTED_MAX ? `${shown} and ${names.length - LISTED_MAX} more` : shown;
}

function caWarnings(caExpiresAt: string | null, now: Date): string[] {
  if (caExpiresAt === null) return [];
  const leftMs = Date.parse(caExpiresAt) - now.getTime();
  if (leftMs > CA_WARNING_MS) return [];
  const days = Math.max(0, Math.floor(leftMs / DAY_MS));
  return [
    `The swarm's certificate authority ends in ${days} days; run docker swarm ca --rotate`,
  ];
}

/** `null` if the engine does not report the certificate, or it cannot be read. */
function caEnd({ TLSInfo }: Swarm): string | null {
  try {
    const { X509Certificate } = nodeCrypto();
    return new Date(new X509Certificate(TLSInfo?.TrustRoot ?? "").validTo).toISOString();
  } catch {
    return null;
  }
}
