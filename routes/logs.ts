/** /api/logs/stream: the logs of several containers. @module */

import * as z from "zod";
import { streamManyLogs } from "../services/logs/follow/open.ts";
import type { Deps } from "../services/deps.ts";
import { STREAM, STREAM_FAILURES, streamQuery, toQuery } from "./containers/log_stream_shapes.ts";
import { ContainerRef } from "./containers/shapes.ts";
import { rawEndpoint } from "./contract/endpoint.ts";
import { eventStream } from "./pipeline/event_stream.ts";

const ManyQuery = z.object({
  container: z.preprocess(
    (given) => typeof given === "string" ? [given] : given,
    z.array(ContainerRef).min(1).max(50),
  ).meta({
    description: "Ids, unambiguous prefixes of ids, or names; up to 50",
    example: ["web", "db"],
  }),
  ...streamQuery,
});

export const logStreamEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/logs/stream", {
    ...STREAM,
    operationId: "streamLogs",
    summary: "Stream logs of several containers",
    description: "Frames are those of `GET /api/containers/:id/logs/stream`. A container that is " +
      "created again with a given name joins.",
    scope: "filtered",
    query: ManyQuery,
    repeatable: ["container"],
    failures: STREAM_FAILURES,
  }, async ({ query: { container, ...query }, caller, request }) => {
    const frames = await streamManyLogs(deps, caller, container, toQuery(query, request));
    return eventStream(frames);
  }),
];
