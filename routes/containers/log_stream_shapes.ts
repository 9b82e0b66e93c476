/** Shapes and failures that streams of logs share. @module */

import * as z from "zod";
import { LOG_LEVELS } from "../../services/logs/follow/level.ts";
import type { LogStreamQuery } from "../../services/logs/follow/open.ts";
import { ENGINE_FAILURES, queryBoolean, queryInteger } from "../contract/shapes.ts";

const EXAMPLE = `id: AWl98YCUiXQ2TmPKGAF...
event: log
data: {"container":"web","containerId":"9489...","stream":"stdout",\
"timestamp":"2026-01-31T12:00:00.123456789Z","message":"GET /cart 200","level":null}

`;

/** Description of a point in time in a query. */
export const TIME = "ISO 8601, Unix seconds, or a duration until now";

/** Query parameters of every stream. */
export const streamQuery = {
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

export const StreamQuery = z.object(streamQuery);

export const READ_FAILURES = {
  403: "The role does not allow this; the log of the service's own container is for admins",
  404: "The container does not exist",
  ...ENGINE_FAILURES,
};

export const STREAM_FAILURES = {
  ...READ_FAILURES,
  429: "The account or API token has its share of the streams or followed containers",
  503: "Limit of 200 streams or 100 followed containers reached, or the container engine cannot " +
    "be reached",
};

/** Part of the contract that all streams share. */
export const STREAM = {
  role: "viewer",
  permission: "containers:logs",
  acceptsTicket: true,
  returns: z.string().meta({ example: EXAMPLE }),
  produces: "text/event-stream",
  headers: { "Last-Event-ID": "Id of the last frame that the client received" },
} as const;

/** Browsers send the header on their own, so an unknown id is ignored and not refused. */
export function toQuery(
  { level, lastEventId, ...query }: z.output<typeof StreamQuery>,
  { headers }: Request,
): LogStreamQuery {
  const id = lastEventId ?? headers.get("last-event-id") ?? undefined;
  return { ...query, levels: level, lastEventId: id };
}
