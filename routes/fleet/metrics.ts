/** /api/fleet/targets: hosts of the fleet as targets of Prometheus. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { listTargets } from "../../services/fleet/metrics/federate.ts";
import { endpoint } from "../contract/endpoint.ts";
import { baseUrl } from "../pipeline/request_url.ts";

const Target = z.object({
  targets: z.array(z.string()).meta({ example: ["hub.example.com"] }),
  labels: z.record(z.string(), z.string()).meta({
    example: {
      __scheme__: "https",
      __metrics_path__: "/metrics/federate",
      __param_host: "edge-7",
      instance: "edge-7",
      host_site: "kiel",
    },
  }),
}).meta({ id: "FleetMetricsTarget" });

export const metricsEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/targets", {
    operationId: "listFleetTargets",
    summary: "List Prometheus targets",
    description:
      "For `http_sd_configs` of Prometheus: a target for each host, whose metrics are read " +
      "through this server. `instance` is the name of the host, and each of its labels is a label " +
      "`host_…`. The address is SERVICE_BASE_URL, else that of the request. If `METRICS_TOKEN` is " +
      "set, it is the only token accepted here.",
    scope: "hosts",
    role: "viewer",
    permission: "fleet:read",
    acceptsMetricsToken: true,
    returns: z.array(Target).meta({ id: "FleetMetricsTargetList" }),
  }, ({ caller, request }) => {
    return listTargets(deps, caller, new URL(baseUrl(deps.config, request)));
  }),
];
