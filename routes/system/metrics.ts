/** /api/system/metrics: current metrics of the host. @module */

import { hostMetrics } from "../../services/metrics/host/metrics.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { SystemMetrics } from "./shapes.ts";

export const systemMetricsEndpoints = (deps: Deps) => [
  endpoint("GET /api/system/metrics", {
    operationId: "getHostMetrics",
    scope: "open",
    showsServer: true,
    summary: "Get current host metrics",
    description: "Sampled every 5 seconds by one sampler for all callers.",
    role: "viewer",
    permission: "system:read",
    returns: SystemMetrics,
  }, () => hostMetrics(deps)),
];
