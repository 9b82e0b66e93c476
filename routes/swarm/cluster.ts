/** /api/swarm and /api/swarm/nodes. @module */

import * as z from "zod";
import { readCluster } from "../../services/swarm/cluster.ts";
import {
  AVAILABILITIES,
  changeNode,
  getNode,
  listNodes,
  NODE_ROLES,
} from "../../services/swarm/nodes.ts";
import { listNodeTasks } from "../../services/swarm/reads.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { EnginePairs, Timestamp } from "../contract/shapes.ts";
import { RefParams, SWARM_FAILURES, TaskList } from "./shapes.ts";

const Swarm = z.object({
  active: z.boolean().meta({ description: "false if the engine is not part of a swarm" }),
  id: z.string().nullable(),
  createdAt: Timestamp.nullable(),
  nodeId: z.string().nullable().meta({ description: "Id of this engine's node" }),
  role: z.literal("manager").nullable().meta({ description: "Of this engine's node" }),
  managers: z.array(z.object({
    id: z.string(),
    hostname: z.string().nullable().meta({ description: "null while the swarm has no leader" }),
    address: z.string().meta({ example: "10.0.0.1:2377" }),
    isLeader: z.boolean(),
    isReachable: z.boolean().nullable().meta({
      description: "null while the swarm has no leader",
    }),
  })),
  nodes: z.int().nullable().meta({
    description: "Number of nodes; null while the swarm has no leader",
  }),
  quorum: z.object({
    managers: z.int(),
    reachable: z.int().nullable(),
    needed: z.int(),
    isKept: z.boolean().meta({
      description: "Without a quorum, services run on, but nothing can be read or changed",
    }),
  }).nullable(),
  caExpiresAt: Timestamp.nullable().meta({ description: "End of the certificate authority" }),
  warnings: z.array(z.string()).meta({
    description: "An even number of managers, a quorum that is lost or one failure away, nodes " +
      "that are down, no node that takes tasks, engine versions that differ, a certificate authority that ends soon",
    example: ["Nodes down: edge-3"],
  }),
}).meta({ id: "Swarm" });

const Node = z.object({
  id: z.string(),
  hostname: z.string().meta({ example: "edge-1" }),
  role: z.enum(NODE_ROLES),
  availability: z.enum(AVAILABILITIES),
  state: z.string().meta({
    description: "ready, down, disconnected or unknown. A node that has died shows as down after " +
      "some 15 seconds",
    example: "ready",
  }),
  message: z.string(),
  address: z.string().meta({ example: "10.0.0.1" }),
  managerAddress: z.string().nullable().meta({ description: "null for a worker" }),
  isLeader: z.boolean(),
  isReachable: z.boolean().nullable().meta({ description: "null for a worker" }),
  isSelf: z.boolean().meta({ description: "Whether it is this engine's node" }),
  engineVersion: z.string(),
  os: z.string(),
  architecture: z.string(),
  cpus: z.number(),
  memoryBytes: z.int(),
  labels: z.record(z.string(), z.string()),
  tasks: z.int().meta({ description: "Number of running tasks" }),
  createdAt: Timestamp.nullable(),
  updatedAt: Timestamp.nullable(),
}).meta({ id: "SwarmNode" });

const NodeChange = z.object({
  availability: z.enum(AVAILABILITIES).optional().meta({
    description: "drain: its tasks move to other nodes; pause: it gets no more tasks",
  }),
  role: z.enum(NODE_ROLES).optional(),
  labels: EnginePairs.optional().meta({ description: "Replaces all labels" }),
}).meta({ id: "SwarmNodeChange", example: { availability: "drain" } });

const UNKNOWN = { 404: "The node does not exist", ...SWARM_FAILURES };

export const clusterEndpoints = (deps: Deps) => [
  endpoint("GET /api/swarm", {
    operationId: "getSwarm",
    summary: "Get the swarm",
    description: "Its managers, their quorum, and what is wrong with it. Also answered while the " +
      "quorum is lost.",
    role: "viewer",
    permission: "swarm:read",
    returns: Swarm,
    failures: SWARM_FAILURES,
  }, () => readCluster(deps)),

  endpoint("GET /api/swarm/nodes", {
    operationId: "listSwarmNodes",
    summary: "List nodes",
    description: "Sorted by host name.",
    role: "viewer",
    permission: "swarm:read",
    returns: z.object({ nodes: z.array(Node) }).meta({ id: "SwarmNodeList" }),
    failures: SWARM_FAILURES,
  }, async () => ({ nodes: await listNodes(deps) })),

  endpoint("GET /api/swarm/nodes/:id", {
    operationId: "getSwarmNode",
    summary: "Get a node",
    role: "viewer",
    permission: "swarm:read",
    params: RefParams,
    returns: Node,
    failures: UNKNOWN,
  }, ({ params }) => getNode(deps, params.id)),

  endpoint("PUT /api/swarm/nodes/:id", {
    operationId: "updateSwarmNode",
    summary: "Update a node",
    description: "Tasks of a node that is drained move in the background; " +
      "`GET /api/swarm/nodes/:id/tasks` shows where they went. Custom roles, and API tokens " +
      "that are limited to permissions, are not enough.",
    role: "admin",
    params: RefParams,
    body: NodeChange,
    returns: Node,
    failures: {
      ...UNKNOWN,
      409:
        "It is the last manager or this engine's node, the quorum would be lost, or the engine does " +
        "not manage a swarm",
    },
  }, async ({ params, body, note }) => {
    const node = await changeNode(deps, params.id, body);
    note.targets = [node.hostname, node.id];
    return node;
  }),

  endpoint("GET /api/swarm/nodes/:id/tasks", {
    operationId: "listSwarmNodeTasks",
    summary: "List a node's tasks",
    description: "Current tasks first, then the last ended ones with their replacements.",
    role: "viewer",
    permission: "swarm:read",
    params: RefParams,
    returns: TaskList,
    failures: UNKNOWN,
  }, async ({ params }) => ({ tasks: await listNodeTasks(deps, params.id) })),
];
