/** /metrics/federate: metrics of a host of the fleet. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { rawEndpoint } from "../contract/endpoint.ts";

export const federateEndpoints = (deps: Deps) => [
  rawEndpoint("GET /metrics/federate", {
    operationId: "getHostPrometheusMetrics",
    summary: "Export metrics of a host",
    description:
      "`GET /metrics` of a host of the fleet, through its link. If `METRICS_TOKEN` is set, " +
      "it is the only token accepted here.",
    scope: "hosts",
    role: "viewer",
    permission: "system:read",
    acceptsMetricsToken: true,
    query: z.object({
      host: z.string().min(1).max(255).meta({ description: "Name or id of the host" }),
    }),
    returns: z.string().meta({ example: "node_load1 0.42\n" }),
    produces: "text/plain",
    failures: {
      404: "The host does not exist",
      502: "The host does not send metrics, e.g. because of its version",
      503: "The host is away",
    },
  }, async ({ caller, grantedTo, query, request, requestId }) => {
    // A server without a fleet does not need it.
    const [{ readHostMetrics }, { toClient }] = await Promise.all([
      import("../../services/fleet/metrics/federate.ts"),
      import("../../services/fleet/passing/headers.ts"),
    ]);
    const { head, body } = await readHostMetrics(deps, {
      ...{ caller, requestId, host: query.host },
      permissionsAt: (host) => grantedTo(caller.userId, host),
      signal: request.signal,
    });
    return new Response(body, { status: head.status, headers: toClient(head.headers, "") });
  }),
];
