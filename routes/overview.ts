/** /api/overview: summary of the host. @module */

import * as z from "zod";
import { readOverview } from "../services/live/overview.ts";
import { visibleTo } from "../services/containers/visible.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Timestamp } from "./contract/shapes.ts";
import { EngineStatus, Maintenance, SystemSummary } from "./system/shapes.ts";

const count = z.int().nullable();

const Overview = z.object({
  serverName: z.string(),
  hostname: z.string().meta({ description: "Same as serverName" }),
  system: SystemSummary,
  containers: z.object({
    running: count,
    stopped: count.meta({ description: "All states except running and paused" }),
    total: count,
    unhealthy: count,
    paused: count,
  }),
  stacks: z.object({
    allHealthy: z.boolean().nullable().meta({ description: "Whether every stack is healthy" }),
    healthy: count,
    degraded: count,
    stopped: count,
    total: count,
  }),
  engine: EngineStatus,
  maintenance: Maintenance,
  sseClients: z.int(),
  timestamp: Timestamp,
}).meta({ id: "Overview" });

export const overviewEndpoints = (deps: Deps) => [
  endpoint("GET /api/overview", {
    operationId: "getOverview",
    scope: "filtered",
    showsServer: true,
    summary: "Get the host overview",
    description: "Container and stack counts are null while the engine is unreachable.",
    role: "viewer",
    permission: "system:read",
    returns: Overview,
  }, ({ caller }) => readOverview(visibleTo(deps, caller))),
];
