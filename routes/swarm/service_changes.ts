/** /api/swarm/services: scale, restart, rollback, update. @module */

import * as z from "zod";
import {
  restartService,
  rollBackService,
  scaleService,
  updateService,
} from "../../services/swarm/change_service.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { RefParams, SWARM_FAILURES } from "./shapes.ts";

const ScaleBody = z.object({
  replicas: z.int().min(0).max(10_000),
}).meta({ id: "SwarmScale", example: { replicas: 3 } });

const UpdateBody = z.object({
  image: z.string().min(1).max(512).optional().meta({
    description: "Default: the current reference, at the digest that its tag has now",
    example: "nginx:1.28",
  }),
  parallelism: z.int().min(0).max(10_000).optional().meta({
    description: "Tasks that are replaced at a time; 0 for all",
  }),
  delaySeconds: z.int().min(0).max(86_400).optional().meta({
    description: "Between these groups of tasks",
  }),
  monitorSeconds: z.int().min(1).max(86_400).optional().meta({
    description: "A task that fails within this time after its start counts as failed",
  }),
  order: z.enum(["stop-first", "start-first"]).optional(),
}).meta({ id: "SwarmServiceUpdate", example: { image: "nginx:1.28", order: "start-first" } });

const CHANGE = {
  scope: "filtered",
  role: "operator",
  permission: "swarm:write",
  params: RefParams,
  returns: Job,
  status: 202,
} as const;

const FAILURES = { 404: "The service does not exist", ...SWARM_FAILURES };

const ENDS = "Starts a job, which ends when Swarm reports the outcome.";

export const serviceChangeEndpoints = (deps: Deps) => [
  endpoint("POST /api/swarm/services/:id/scale", {
    ...CHANGE,
    operationId: "scaleSwarmService",
    summary: "Scale a service",
    description: ENDS,
    body: ScaleBody,
    failures: {
      ...FAILURES,
      409:
        "It is a global service or a job, another job changes it, Longshore itself runs in it, " +
        "or the engine does not manage a swarm",
    },
  }, ({ params, body, caller }) => scaleService(deps, caller, params.id, body.replicas)),

  endpoint("POST /api/swarm/services/:id/restart", {
    ...CHANGE,
    operationId: "restartSwarmService",
    summary: "Restart a service",
    description: `Replaces its tasks one after another, as its update settings say. ${ENDS}`,
    destructive: true,
    failures: FAILURES,
  }, ({ params, caller }) => restartService(deps, caller, params.id)),

  endpoint("POST /api/swarm/services/:id/rollback", {
    ...CHANGE,
    operationId: "rollBackSwarmService",
    summary: "Roll a service back",
    description: `Returns to the version before the last update. ${ENDS}`,
    destructive: true,
    failures: {
      ...FAILURES,
      409: "Swarm has no earlier version, e.g. after its own rollback, or a secret of it is gone",
    },
  }, ({ params, caller }) => rollBackService(deps, caller, params.id)),

  endpoint("POST /api/swarm/services/:id/update", {
    ...CHANGE,
    operationId: "updateSwarmService",
    summary: "Update a service",
    description: "The image is pinned to its digest. If new tasks fail, Swarm rolls back, and " +
      "the job ends as `rolled_back`. An image of another repository requires the role admin, " +
      `without an API token that is limited to stacks. ${ENDS}`,
    role: "admin",
    destructive: true,
    body: UpdateBody,
    failures: FAILURES,
  }, ({ params, body, caller }) => updateService(deps, caller, params.id, body)),
];
