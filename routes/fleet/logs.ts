/** /api/fleet/logs/stream: the logs of containers on several hosts. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { streamHostLogs } from "../../services/fleet/logs/stream.ts";
import { STREAM, streamQuery, toQuery } from "../containers/log_stream_shapes.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { eventStream } from "../pipeline/event_stream.ts";

const HostLogsQuery = z.object({
  container: z.preprocess(
    (given) => typeof given === "string" ? [given] : given,
    z.array(z.string().min(3).max(330)).min(1).max(50),
  ).meta({
    description: "Name of a host, `/`, and the name or id of a container there; up to 50",
    example: ["edge-7/web", "edge-8/web"],
  }),
  ...streamQuery,
});

const EXAMPLE = `id: edge-7:AWl98YCUiXQ2TmPKGAF...
event: log
data: {"container":"web","containerId":"9489...","stream":"stdout",\
"timestamp":"2026-01-31T12:00:00.123456789Z","message":"GET /cart 200","level":null,"host":"edge-7"}

event: missing
data: {"host":"edge-8","missing":[{"containers":["web"],"reason":"away"}]}

`;

export const hostLogEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/fleet/logs/stream", {
    ...STREAM,
    operationId: "streamFleetLogs",
    summary: "Stream logs of several hosts",
    description: "Frames are those of `GET /api/logs/stream` with `host`, in the order of their " +
      "arrival. `missing` names the containers of a host whose lines are missing from then on, " +
      "with the reason: `away`, `refused` (the host does not allow it) or `gone` (it has no such " +
      "container); without any, all are there again. A host that is back continues where it was.",
    scope: "filtered",
    query: HostLogsQuery,
    repeatable: ["container"],
    returns: z.string().meta({ example: EXAMPLE }),
    failures: {
      404: "The fleet has no such host",
      429: "The account or API token has its share of the streams",
      503: "Limit of 64 streams reached",
    },
  }, async ({ query: { container, ...query }, caller, grantedTo, request, requestId }) => {
    const frames = await streamHostLogs(deps, {
      ...{ caller, requestId, containers: container },
      permissionsAt: (host) => grantedTo(caller.userId, host),
      query: toQuery(query, request),
    });
    return eventStream(frames);
  }),
];
