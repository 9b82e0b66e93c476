/** /api/swarm/services/:id/logs and its stream. @module */

import * as z from "zod";
import { LOG_LEVELS } from "../../services/logs/follow/level.ts";
import { readServiceLogs } from "../../services/logs/services/read.ts";
import { streamServiceLogs } from "../../services/logs/services/stream.ts";
import type { Deps } from "../../services/deps.ts";
import { STREAM, TIME } from "../containers/log_stream_shapes.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { queryInteger } from "../contract/shapes.ts";
import { eventStream } from "../pipeline/event_stream.ts";
import { RefParams, SWARM_FAILURES } from "./shapes.ts";

const Line = z.object({
  timestamp: z.string().meta({ example: "2026-01-31T12:00:00.123456789Z" }),
  stream: z.enum(["stdout", "stderr"]),
  task: z.string().meta({ example: "shop_web.2" }),
  taskId: z.string(),
  node: z.string().meta({ description: "Host name", example: "edge-1" }),
  message: z.string(),
  level: z.enum(LOG_LEVELS).nullable(),
});

const since = z.string().min(1).max(64).optional().meta({ description: TIME, example: "15m" });

const LogsQuery = z.object({
  tail: queryInteger({
    min: 1,
    max: 1_000,
    fallback: 100,
    description: "Number of last lines of each task",
  }),
  since,
});

const StreamQuery = z.object({
  tail: queryInteger({ min: 0, max: 10_000 }).optional().meta({
    description: "Number of last lines of each task; default 200, or all lines with `since`",
  }),
  since,
  lastEventId: z.string().max(64).optional().meta({
    description: "Instead of the header `Last-Event-ID`",
  }),
});

const EXAMPLE = `id: 2026-01-31T12:00:00.123456789Z
event: log
data: {"timestamp":"2026-01-31T12:00:00.123456789Z","stream":"stdout","task":"shop_web.2",\
"taskId":"2z6u...","node":"edge-1","message":"GET /cart 200","level":null}

`;

const FAILURES = { 404: "The service does not exist", ...SWARM_FAILURES };

export const serviceLogEndpoints = (deps: Deps) => [
  endpoint("GET /api/swarm/services/:id/logs", {
    operationId: "getSwarmServiceLogs",
    summary: "Get service logs",
    description: "Lines of all tasks on every node, by time, at most 10,000.",
    scope: "filtered",
    role: "viewer",
    permission: "containers:logs",
    params: RefParams,
    query: LogsQuery,
    returns: z.object({
      lines: z.array(Line),
      isComplete: z.boolean().meta({
        description: "false if a node did not send its part within 15 seconds",
      }),
    }).meta({ id: "SwarmServiceLogs" }),
    failures: FAILURES,
  }, ({ params, query, caller }) => readServiceLogs(deps, caller, params.id, query)),

  rawEndpoint("GET /api/swarm/services/:id/logs/stream", {
    ...STREAM,
    operationId: "streamSwarmServiceLogs",
    summary: "Stream service logs",
    description: "Lines of all tasks on every node in the order of arrival; new tasks join.",
    returns: z.string().meta({ example: EXAMPLE }),
    scope: "filtered",
    params: RefParams,
    query: StreamQuery,
    failures: {
      ...FAILURES,
      429: "The account or API token has its share of the streams",
      503: "Limit of 64 streams reached, or the container engine cannot be reached",
    },
  }, async ({ params, query: { lastEventId, ...query }, caller, request }) => {
    const id = lastEventId ?? request.headers.get("last-event-id") ?? undefined;
    return eventStream(
      await streamServiceLogs(deps, caller, params.id, { ...query, lastEventId: id }),
    );
  }),
];
