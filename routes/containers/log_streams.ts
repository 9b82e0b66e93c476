/** /api/containers/:id/logs/stream and /download: the log of one container. @module */

import * as z from "zod";
import { downloadContainerLog } from "../../services/logs/download.ts";
import { streamContainerLogs } from "../../services/logs/follow/open.ts";
import type { Deps } from "../../services/deps.ts";
import { attachment } from "../contract/attachment.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { eventStream } from "../pipeline/event_stream.ts";
import { queryBoolean } from "../contract/shapes.ts";
import {
  READ_FAILURES,
  STREAM,
  STREAM_FAILURES,
  StreamQuery,
  TIME,
  toQuery,
} from "./log_stream_shapes.ts";
import { ContainerParams } from "./shapes.ts";

const FRAMES = `Sends the last lines, then new ones as the container writes them:

- \`log\`: a line \`{container, containerId, stream, timestamp, message, level}\`, or an array of up to \
100 lines. \`stream\` is \`stdout\` or \`stderr\`; with a terminal it is always \`stdout\`. \`level\` is \
detected from the line (JSON, logfmt, klog, syslog and common prefixes) and may be null. A line is cut \
after 16 KiB and then has \`truncated: true\`.
- \`gap\`: \`{container, containerId, dropped}\`. The client read too slowly, and this number of lines \
(before filters) was dropped. \`dropped\` is null if the engine no longer has lines that the client has \
not received; their number is then unknown.
- \`restarted\`: \`{container, containerId}\`. The container was started again; its lines follow.
- \`end\`: \`{container, containerId, reason}\`. Nothing follows from this container, because it was \
\`removed\`, the engine cannot be reached (\`engine_lost\`), or its log cannot be read (\`unreadable\`).

Every frame has an id. After a reconnect with \`Last-Event-ID\` the stream continues with the next \
line, without loss or repetition, also after a restart of the service. Comments keep the connection \
open. A client can be up to 1 MiB behind; one that does not read for a minute is disconnected. The \
stream ends when the token expires.`;

const DownloadQuery = z.object({
  since: z.string().min(1).max(64).optional().meta({ description: TIME, example: "2h" }),
  until: z.string().min(1).max(64).optional().meta({ description: TIME }),
  timestamps: queryBoolean({
    fallback: false,
    description: "Whether each line begins with its RFC 3339 time",
  }),
});

export const containerLogStreamEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/containers/:id/logs/stream", {
    ...STREAM,
    operationId: "streamContainerLogs",
    summary: "Stream container logs",
    description: FRAMES,
    scope: "container",
    params: ContainerParams,
    query: StreamQuery,
    failures: { ...STREAM_FAILURES, 409: "The log cannot be read (log driver)" },
  }, async ({ params, query, caller, request }) => {
    const frames = await streamContainerLogs(deps, caller, params.id, toQuery(query, request));
    return eventStream(frames);
  }),

  rawEndpoint("GET /api/containers/:id/logs/download", {
    operationId: "downloadContainerLogs",
    audited: true,
    summary: "Download container logs",
    description: "The log as the container wrote it, with standard output and standard error in " +
      "the order of the engine.",
    role: "viewer",
    permission: "containers:logs",
    scope: "container",
    acceptsTicket: true,
    params: ContainerParams,
    query: DownloadQuery,
    returns: z.string().meta({ example: "GET /cart 200\n" }),
    produces: "text/plain",
    replyHeaders: { "Content-Disposition": "File name of the log" },
    failures: {
      ...READ_FAILURES,
      409: "The log cannot be read (log driver)",
      429: "The account or API token has its share of the downloads",
      503: "Limit of 8 downloads reached, or the container engine cannot be reached",
    },
  }, async ({ params, query, caller }) => {
    const { name, text } = await downloadContainerLog(deps, caller, params.id, query);
    return new Response(text, {
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": attachment(`${name}.log`),
      },
    });
  }),
];
