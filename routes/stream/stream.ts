/** /api/stream: metrics, containers, alerts, monitors and events as server-sent events. @module */

import * as z from "zod";
import { openHostStream } from "../../services/fleet/events/stream.ts";
import { openStream, STREAM_TYPES } from "../../services/live/frames.ts";
import type { Deps } from "../../services/deps.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { acceptsEncoding } from "../pipeline/accept.ts";
import { eventStream } from "../pipeline/event_stream.ts";

const DESCRIPTION =
  `Immediately and then every 15 seconds, sends the frames \`metrics\` (the host, \`maintenance\`, and \
\`changes\`: how often each resource was changed since the start, e.g. \`{"/api/webhooks": 3}\`), \
\`containers\` (\`{containers, stacks}\`), \`alerts\` (\`{firing, recent}\`) and, with Pro, \`monitors\` \
(\`{results}\`: the checks of uptime monitors in the 30 seconds before the last one, each with the monitor's status and \
uptime after it). \`overview\` is sent only if \`types\` names it, and instead of \`containers\` suffices for a page of \
numbers: \`{containers, attention, stacks}\`, i.e. how many containers there are, those with a problem or a firing \
alert, and the first stacks, degraded ones before others. Sends them again about a second after a container, the engine or \
another resource has changed, or later if there are many containers. Sends \`event\` frames (\`{event, timestamp, eventId, server, serverId, data, title, tone, lines, remedy?, problem?}\`: what a webhook gets, what it means in words, where people should do something about it, and the \`key\` of the problem that it begins or ends, by \`phase\`, with the keys in \`alsoEnds\` if others of a removed container end with it) as events happen, and \`job\` \
frames (the job without its result) when a job starts, ends or reaches another step. Only admins \
receive the events of accounts.

Ids increase. After a reconnect with \`Last-Event-ID\`, the missed \`event\` and \`job\` frames are \
sent first, if they are among the last 1,000. A client that does not read loses frames, then its connection. The \
stream ends when the token expires.

With \`hosts\`, it has the frames \`event\`, \`containers\` and \`alerts\` of hosts of the fleet, from the hub's copies: \
events with \`host\`, and \`{host, asOf, isWhole, set, removed}\` with the rows of \`GET /api/fleet/containers\` and \
\`GET /api/fleet/alerts\` that have changed, first all of them (\`isWhole\`).`;

const EXAMPLE = `id: 1769860800000001
event: event
data: {"event":"container.up",...,"title":"Container up: web","tone":"good","lines":[]}

`;

/** An id of the stream; a number can represent it exactly. */
const ID = /^\d{1,16}$/;

const StreamQuery = z.object({
  types: z.preprocess(
    (text) => typeof text === "string" ? text.split(",").map((type) => type.trim()) : text,
    z.array(z.enum(STREAM_TYPES))
      .default(STREAM_TYPES.filter((type) => type !== "overview")),
  ).meta({
    description: "Types of frames, separated by commas; default: all except `overview`",
    example: ["metrics", "event"],
  }),
  hosts: z.preprocess(
    (text) => typeof text === "string" ? text.split(",").map((name) => name.trim()) : text,
    z.array(z.string().min(1).max(63)).min(1).max(50).optional(),
  ).meta({
    description: "Names of hosts of the fleet, separated by commas; `*` stands for any text. The " +
      "stream is then theirs, and has not this server's own frames",
    example: ["edge-*"],
  }),
  lastEventId: z.string().regex(ID, { error: "must be an id of this stream" }).optional().meta({
    description: "Instead of the header `Last-Event-ID`",
  }),
});

export const streamEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/stream", {
    operationId: "streamEvents",
    scope: "filtered",
    summary: "Stream states and events",
    description: DESCRIPTION,
    role: "viewer",
    permission: "system:read",
    acceptsTicket: true,
    query: StreamQuery,
    returns: z.string().meta({ example: EXAMPLE }),
    produces: "text/event-stream",
    headers: { "Last-Event-ID": "Id of the last frame that the client received" },
    failures: {
      404: "The fleet has no host of a name in `hosts`",
      429: "The account or API token has its share of the streams",
      503: "Too many clients are connected",
    },
  }, async ({ query: { types, hosts, lastEventId }, caller, request }) => {
    // Browsers send the header on their own, so an unknown value is ignored and not refused.
    const id = lastEventId ?? request.headers.get("last-event-id");
    const lastId = id !== null && ID.test(id) ? Number(id) : undefined;
    if (hosts) {
      return eventStream(openHostStream(deps, caller, { hosts, types, lastEventId: lastId }));
    }
    const isCompressed = acceptsEncoding(request, "gzip");
    const options = { types, lastEventId: lastId, isCompressed };
    return eventStream(await openStream(deps, caller, options), { isCompressed });
  }),
];
