/** /api/swarm/services: list, details, tasks. @module */

import * as z from "zod";
import { getService, listServices, listServiceTasks } from "../../services/swarm/reads.ts";
import { SWARM_MODES } from "../../services/swarm/services.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Timestamp } from "../contract/shapes.ts";
import { Failure, RefParams, SWARM_FAILURES, TaskList } from "./shapes.ts";

const Service = z.object({
  id: z.string(),
  name: z.string().meta({ description: "With the stack's name", example: "shop_web" }),
  stack: z.string().nullable().meta({ example: "shop" }),
  mode: z.enum(SWARM_MODES),
  image: z.string().meta({ example: "nginx:1.27" }),
  digest: z.string().nullable().meta({ description: "That the swarm has pinned" }),
  desired: z.int().meta({ description: "Tasks that should run" }),
  running: z.int(),
  ports: z.array(z.object({
    protocol: z.string().meta({ example: "tcp" }),
    target: z.int().meta({ example: 80 }),
    published: z.int().nullable().meta({ example: 8080 }),
    mode: z.string().meta({
      description: "ingress: on every node; host: on those with a task",
      example: "ingress",
    }),
  })),
  placement: z.object({
    constraints: z.array(z.string()).meta({ example: ["node.labels.disk==ssd"] }),
    spread: z.array(z.string()).meta({ example: ["node.labels.rack"] }),
    maxReplicasPerNode: z.int().nullable(),
  }),
  update: z.object({
    state: z.string().meta({
      description: "updating, paused, completed, rollback_started, rollback_paused or " +
        "rollback_completed",
      example: "completed",
    }),
    message: z.string(),
    startedAt: Timestamp.nullable(),
    completedAt: Timestamp.nullable(),
  }).nullable().meta({ description: "The last update; null if there was none" }),
  canRollBack: z.boolean().meta({ description: "Whether Swarm has an earlier version" }),
  createdAt: Timestamp.nullable(),
  updatedAt: Timestamp.nullable(),
}).meta({ id: "SwarmService" });

const UpdateSettings = z.object({
  parallelism: z.int().meta({ description: "Tasks at a time; 0 for all" }),
  delaySeconds: z.number(),
  failureAction: z.string().meta({ example: "rollback" }),
  monitorSeconds: z.number(),
  maxFailureRatio: z.number(),
  order: z.string().meta({ example: "start-first" }),
}).meta({ id: "SwarmUpdateSettings" });

const ServiceDetail = Service.extend({
  failures: z.array(Failure).meta({ description: "The last failures of tasks, newest first" }),
  secrets: z.array(z.string()).meta({ description: "Names of the secrets that it uses" }),
  configs: z.array(z.string()),
  updateSettings: UpdateSettings,
  rollbackSettings: UpdateSettings,
}).meta({ id: "SwarmServiceDetail" });

const READ = {
  scope: "filtered",
  role: "viewer",
  permission: "swarm:read",
} as const;

const UNKNOWN = { 404: "The service does not exist", ...SWARM_FAILURES };

export const serviceEndpoints = (deps: Deps) => [
  endpoint("GET /api/swarm/services", {
    ...READ,
    operationId: "listSwarmServices",
    summary: "List services",
    description: "Sorted by name. A token that is limited to stacks gets their services.",
    returns: z.object({ services: z.array(Service) }).meta({ id: "SwarmServiceList" }),
    failures: SWARM_FAILURES,
  }, async ({ caller }) => ({ services: await listServices(deps, caller) })),

  endpoint("GET /api/swarm/services/:id", {
    ...READ,
    operationId: "getSwarmService",
    summary: "Get a service",
    params: RefParams,
    returns: ServiceDetail,
    failures: UNKNOWN,
  }, ({ params, caller }) => getService(deps, caller, params.id)),

  endpoint("GET /api/swarm/services/:id/tasks", {
    ...READ,
    operationId: "listSwarmServiceTasks",
    summary: "List a service's tasks",
    description: "On all nodes. Current tasks first, then the last ended ones.",
    params: RefParams,
    returns: TaskList,
    failures: UNKNOWN,
  }, async ({ params, caller }) => ({ tasks: await listServiceTasks(deps, caller, params.id) })),
];
