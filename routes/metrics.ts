/** /api/metrics/history and /metrics: metrics history and the Prometheus endpoint. @module */

import * as z from "zod";
import { createMetricsExporter } from "../services/prometheus/export.ts";
import { readContainerHistory } from "../services/metrics/container_history.ts";
import { readHistory } from "../services/metrics/history.ts";
import { POINTS_MAX } from "../services/metrics/window.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint, rawEndpoint } from "./contract/endpoint.ts";
import { sendRepresentation } from "./pipeline/representation.ts";
import { queryInteger, Timestamp } from "./contract/shapes.ts";
import { From, inOrder, To } from "./contract/time_range.ts";
import { ContainerParams, rates } from "./containers/shapes.ts";

const HistoryQuery = z.object({
  hours: queryInteger({ min: 1, max: 168, description: "Length of the range; default 24" })
    .optional(),
  range: z.string().regex(/^([1-9]\d{0,4})[mhd]$/, {
    error: "must be a number with m, h or d, such as 24h or 7d",
  }).optional().meta({ description: "Length of the range, instead of hours", example: "7d" }),
  from: From,
  to: To,
  points: queryInteger({
    min: 2,
    max: POINTS_MAX,
    description:
      `Limit of points, e.g. for a small chart; default ${POINTS_MAX}. Longer intervals ` +
      "make them fewer; the longest is 60 minutes",
  }).optional(),
}).refine(inOrder.check, inOrder.fault);

const percent = z.number().meta({ description: "0 to 100" });
const count = z.number().nullable().meta({
  description: "Mean over the interval; null while the engine was unreachable",
});

const Point = z.object({
  timestamp: Timestamp,
  cpuPercent: percent,
  memoryPercent: percent,
  diskPercent: percent,
  load1: z.number(),
  containersRunning: count,
  containersTotal: count,
}).meta({ id: "MetricsPoint" });

const figure = z.number().nullable();
const Range = z.object({ min: figure, avg: figure, max: figure }).meta({ id: "MetricsRange" });

const window = {
  from: Timestamp,
  to: Timestamp,
  hours: z.number().meta({ description: "Length of the range" }),
  resolutionSeconds: z.int().meta({ description: "Interval that each point covers" }),
};

const History = z.object({
  ...window,
  history: z.array(Point).meta({
    description: "Oldest first, at most 1,000. Intervals without samples have no point",
  }),
  summary: z.object({
    cpuPercent: Range,
    memoryPercent: Range,
    diskPercent: Range,
    load1: Range,
    containersRunning: Range,
    containersTotal: Range,
  }).meta({ description: "Over all samples; null without samples" }),
}).meta({
  id: "MetricsHistory",
  example: {
    from: "2026-01-31T00:00:00.000Z",
    to: "2026-02-01T00:00:00.000Z",
    hours: 24,
    resolutionSeconds: 120,
    history: [{
      timestamp: "2026-01-31T12:00:00.000Z",
      cpuPercent: 12.5,
      memoryPercent: 48.1,
      diskPercent: 61.3,
      load1: 0.42,
      containersRunning: 7,
      containersTotal: 9,
    }],
    summary: {
      cpuPercent: { min: 1.2, avg: 12.5, max: 97.4 },
      memoryPercent: { min: 47.9, avg: 48.1, max: 52.6 },
      diskPercent: { min: 61.3, avg: 61.3, max: 61.3 },
      load1: { min: 0.05, avg: 0.42, max: 3.11 },
      containersRunning: { min: 6, avg: 7, max: 7 },
      containersTotal: { min: 9, avg: 9, max: 9 },
    },
  },
});

const ContainerPoint = z.object({
  timestamp: Timestamp,
  cpuPercent: z.number().meta({ description: "100 is one core" }),
  memory: z.int().meta({ description: "Bytes in use, without page cache" }),
  ...rates,
}).meta({ id: "ContainerMetricsPoint" });

const ContainerHistory = z.object({
  name: z.string().meta({ example: "web" }),
  ...window,
  history: z.array(ContainerPoint).meta({
    description: "Oldest first, at most 1,000. Intervals without samples have no point",
  }),
  summary: z.object({
    cpuPercent: Range,
    memory: Range,
    networkRxPerSecond: Range,
    networkTxPerSecond: Range,
    blockReadPerSecond: Range,
    blockWritePerSecond: Range,
  }),
}).meta({ id: "ContainerMetricsHistory" });

const RANGE_NOTE = "Kept for 30 days. The range is given by `hours`, `range` or `from`, and ends " +
  "at `to` or now. Each point covers 15 seconds for ranges up to 4 hours of the last 2 days, one " +
  "minute up to 16 hours, then 2, 5, 15, 30 and 60 minutes.";

export const metricsEndpoints = (deps: Deps) => [
  endpoint("GET /api/metrics/history", {
    operationId: "getMetricsHistory",
    scope: "open",
    showsServer: true,
    summary: "Get host metrics history",
    description: `Sampled every 15 seconds. ${RANGE_NOTE}`,
    role: "viewer",
    permission: "system:read",
    query: HistoryQuery,
    returns: History,
    etag: true,
  }, ({ query }) => readHistory(deps, query)),

  endpoint("GET /api/containers/:id/metrics/history", {
    operationId: "getContainerMetricsHistory",
    scope: "container",
    summary: "Get container metrics history",
    description: "CPU, memory, network and disk I/O, sampled every 15 seconds while the " +
      "container runs. The history belongs to the container's name: it continues when the " +
      "container is recreated, and can be read by name after its removal. " +
      `${RANGE_NOTE} With more than 170 containers the finer resolutions are kept for less time.`,
    role: "viewer",
    permission: "containers:read",
    params: ContainerParams,
    query: HistoryQuery,
    returns: ContainerHistory,
    etag: true,
    failures: {
      404: "No container has this name, and no samples exist for it",
      503: "The container engine cannot be reached",
    },
  }, ({ params, query }) => readContainerHistory(deps, params.id, query)),

  exportEndpoint(deps),
];

function exportEndpoint(deps: Deps) {
  const read = createMetricsExporter(deps);
  return rawEndpoint("GET /metrics", {
    operationId: "getPrometheusMetrics",
    scope: "filtered",
    showsServer: true,
    summary: "Export Prometheus metrics",
    description:
      "Names and labels follow cAdvisor and node_exporter where these define them; all " +
      "others begin with `longshore_`. If `METRICS_TOKEN` is set, it is the only token " +
      "accepted here.",
    role: "viewer",
    permission: "system:read",
    acceptsMetricsToken: true,
    returns: z.string().meta({
      example: "# HELP node_load1 Load average over 1 minute\n# TYPE node_load1 gauge\n" +
        "node_load1 0.42\n",
    }),
    produces: "text/plain",
  }, async ({ request, caller }) => {
    const { bytes, gzip, contentType } = await read(caller);
    return sendRepresentation({ headers: { "content-type": contentType }, bytes, gzip }, request);
  });
}
