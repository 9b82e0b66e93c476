/** Log streams of containers and stacks, and log downloads. @module */

import * as z from "zod";
import { downloadContainerLog } from "../../services/logs/download.ts";
import { LOG_LEVELS } from "../../services/logs/follow/level.ts";
import {
  type LogStreamQuery,
  streamContainerLogs,
  streamManyLogs,
  streamStackLogs,
} from "../../services/logs/follow/open.ts";
import type { Deps } from "../../services/deps.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { eventStream } from "../pipeline/event_stream.ts";
import { ENGINE_FAILURES, queryBoolean, queryInteger } from "../contract/shapes.ts";
import { StackParams } from "../stacks/shapes.ts";
import { ContainerParams, ContainerRef } from "./shapes.ts";

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

const EXAMPLE = `id: AWl98YCUiXQ2TmPKGAF...
event: log
data: {"container":"web","containerId":"9489...","stream":"stdout",\
"timestamp":"2026-01-31T12:00:00.123456789Z","message":"GET /cart 200","level":null}

`;

const TIME = "ISO 8601, Unix seconds, or a duration until now";

const streamQuery = {
  tail: queryInteger({ min: 0, max: 10_000 }).optional().meta({
    description: "Number of last lines of each container, before filters; default 200, or all " +
      "lines with `since`",
  }),
  since: z.string().min(1).max(64).optional().meta({ description: TIME, example: "15m" }),
  search: z.string().min(1).max(200).optional().meta({
    description: "Only lines that contain this text; case-insensitive",
  }),
  regex: z.string().min(1).max(200).optional().meta({
    description: "Only lines that match this regular expression, as in log search",
  }),
  level: z.preprocess(
    (text) => typeof text === "string" ? text.split(",").map((level) => level.trim()) : text,
    z.array(z.enum(LOG_LEVELS)).optional(),
  ).meta({ description: "Only lines with one of these levels, separated by commas" }),
  stdout: queryBoolean({ fallback: true }),
  stderr: queryBoolean({ fallback: true }),
  lastEventId: z.string().max(8_192).optional().meta({
    description: "Instead of the header `Last-Event-ID`",
  }),
};

const StreamQuery = z.object(streamQuery);

const ManyQuery = z.object({
  container: z.array(ContainerRef).min(1).max(50).meta({
    description: "Ids, unambiguous prefixes of ids, or names; up to 50",
    example: ["web", "db"],
  }),
  ...streamQuery,
});

const DownloadQuery = z.object({
  since: z.string().min(1).max(64).optional().meta({ description: TIME, example: "2h" }),
  until: z.string().min(1).max(64).optional().meta({ description: TIME }),
  timestamps: queryBoolean({
    fallback: false,
    description: "Whether each line begins with its RFC 3339 time",
  }),
});

const READ_FAILURES = {
  403: "The role does not allow this; the log of the service's own container is for admins",
  404: "The container does not exist",
  ...ENGINE_FAILURES,
};

const STREAM_FAILURES = {
  ...READ_FAILURES,
  429: "The account or API token has its share of the streams or followed containers",
  503: "Limit of 200 streams or 100 followed containers reached, or the container engine cannot " +
    "be reached",
};

/** Common parts of all streams. */
const STREAM = {
  role: "viewer",
  permission: "containers:logs",
  acceptsTicket: true,
  returns: z.string().meta({ example: EXAMPLE }),
  produces: "text/event-stream",
  headers: { "Last-Event-ID": "Id of the last frame that the client received" },
} as const;

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
        "content-disposition": `attachment; filename="${name}.log"`,
      },
    });
  }),
];

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

/** Browsers send the header on their own, so an unknown id is ignored and not refused. */
function toQuery(
  { level, lastEventId, ...query }: z.output<typeof StreamQuery>,
  { headers }: Request,
): LogStreamQuery {
  const id = lastEventId ?? headers.get("last-event-id") ?? undefined;
  return { ...query, levels: level, lastEventId: id };
}
