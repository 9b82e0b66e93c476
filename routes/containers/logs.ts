/** /api/containers/:id/logs: read and search container logs. @module */

import * as z from "zod";
import { readContainerLogs, searchContainerLogs } from "../../services/logs/logs.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, queryBoolean, queryInteger } from "../contract/shapes.ts";
import { ContainerParams } from "./shapes.ts";

const LogsQuery = z.object({
  tail: queryInteger({ min: 1, max: 1_000, fallback: 100, description: "Number of last lines" }),
  since: z.string().min(1).max(64).optional().meta({
    description: "ISO 8601 or Unix seconds",
    example: "2026-01-31T12:00:00Z",
  }),
  stdout: queryBoolean({ fallback: true }),
  stderr: queryBoolean({ fallback: true }),
});

const SearchQuery = z.object({
  q: z.string().min(1).max(200).meta({ description: "Text, or a regular expression" }),
  regex: queryBoolean({ fallback: false }),
  context: queryInteger({
    min: 0,
    max: 5,
    fallback: 2,
    description: "Number of lines around a match",
  }),
});

const EXAMPLE_LINE = "2026-01-31T12:00:00.123456789Z GET /cart 200";

const FAILURES = {
  403: "The role does not allow this; the log of the service's own container is for admins",
  404: "The container does not exist",
  ...ENGINE_FAILURES,
};

export const containerLogEndpoints = (deps: Deps) => [
  endpoint(
    "GET /api/containers/:id/logs",
    {
      operationId: "getContainerLogs",
      scope: "container",
      summary: "Get container logs",
      description:
        "Each line is an RFC 3339 timestamp with nanoseconds, a space and the text. Standard " +
        "output and standard error are merged by time.",
      role: "viewer",
      permission: "containers:logs",
      params: ContainerParams,
      query: LogsQuery,
      returns: z.object({ lines: z.array(z.string()).meta({ example: [EXAMPLE_LINE] }) }).meta({
        id: "ContainerLogs",
      }),
      failures: FAILURES,
    },
    ({ params, query, request, caller }) =>
      readContainerLogs(deps, caller, params.id, query, request.signal),
  ),

  endpoint("GET /api/containers/:id/logs/search", {
    operationId: "searchContainerLogs",
    scope: "container",
    summary: "Search container logs",
    description: "Searches the last 10,000 lines. Plain search is case-insensitive. Regular " +
      "expressions that can backtrack catastrophically are rejected; look-around and " +
      "back-references are not supported.",
    role: "viewer",
    permission: "containers:logs",
    params: ContainerParams,
    query: SearchQuery,
    returns: z.object({
      query: z.string(),
      regex: z.boolean(),
      totalLines: z.int().meta({ description: "Lines searched" }),
      truncated: z.boolean().meta({ description: "Whether there are more matches than 500" }),
      matches: z.array(z.object({
        lineNumber: z.int(),
        line: z.string().meta({ example: EXAMPLE_LINE }),
        context: z.array(z.string()),
      })),
    }).meta({ id: "LogSearchResult" }),
    failures: FAILURES,
  }, ({ params, query, request, caller }) =>
    searchContainerLogs(
      deps,
      caller,
      params.id,
      { query: query.q, regex: query.regex, context: query.context },
      request.signal,
    )),
];
