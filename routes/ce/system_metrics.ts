/**
 * /api/system/metrics: the host's own metrics.
 *
 * @module
 */

import { hostMetrics } from "../../services/ce/host_metrics.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { SystemMetrics } from "./system_shapes.ts";

export const systemMetricsEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/system/metrics",
    summary: "Show processor, memory, disk, load and uptime of the host",
    description: "One sampler measures for all callers, every 5 seconds.",
    role: "viewer",
    permission: "system:read",
    returns: SystemMetrics,
  }, () => hostMetrics(deps)),
];
