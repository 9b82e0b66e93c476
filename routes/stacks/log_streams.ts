/** /api/stacks/:name/logs/stream: the logs of all containers of a stack. @module */

import { streamStackLogs } from "../../services/logs/follow/open.ts";
import type { Deps } from "../../services/deps.ts";
import { STREAM, STREAM_FAILURES, StreamQuery, toQuery } from "../containers/log_stream_shapes.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { eventStream } from "../pipeline/event_stream.ts";
import { StackParams } from "./shapes.ts";

export const stackLogStreamEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/stacks/:name/logs/stream", {
    ...STREAM,
    operationId: "streamStackLogs",
    summary: "Stream stack logs",
    description: "Streams the logs of all containers of a stack; new ones join. Frames are those " +
      "of `GET /api/containers/:id/logs/stream`. Lines of different containers are in the order " +
      "of arrival.",
    scope: "stack",
    params: StackParams,
    query: StreamQuery,
    failures: { ...STREAM_FAILURES, 404: "The stack does not exist" },
  }, async ({ params, query, caller, request }) => {
    const frames = await streamStackLogs(deps, caller, params.name, toQuery(query, request));
    return eventStream(frames);
  }),
];
