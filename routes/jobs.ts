/** /api/jobs: work that takes longer than a request. @module */

import * as z from "zod";
import { cancelJob, getJob, listJobs } from "../services/jobs/jobs.ts";
import { openJobStream } from "../services/jobs/stream.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint, rawEndpoint } from "./contract/endpoint.ts";
import { eventStream } from "./pipeline/event_stream.ts";
import { Job } from "./contract/job.ts";
import { queryInteger } from "./contract/shapes.ts";

const EXAMPLE = `event: step
data: {"name":"pull","status":"running","startedAt":"2026-01-31T12:00:00.000Z",...}

event: progress
data: {"current":31457280,"total":62914560,"message":"2 of 5 layers complete"}

`;

const UNKNOWN = { 404: "The job does not exist, or the caller may not read its target" };

/** Each shows the jobs of its own targets. */
const READ = {
  role: "viewer",
  scope: "filtered",
  permission: "images:read",
  orPermissions: ["containers:read", "stacks:read", "system:read"],
} as const;

export const jobEndpoints = (deps: Deps) => [
  endpoint("GET /api/jobs", {
    operationId: "listJobs",
    summary: "List jobs",
    description: "Newest first. Finished jobs are kept for 90 days. At most four jobs run at a " +
      "time; further ones are queued. An API token that is limited to stacks or containers sees " +
      "the jobs on them.",
    ...READ,
    query: z.object({
      kind: z.preprocess(
        (text) => typeof text === "string" ? text.split(",").map((kind) => kind.trim()) : text,
        z.array(Job.shape.kind).max(20).optional(),
      ).meta({
        description: "Only jobs of these kinds, separated by commas",
        example: ["container.update", "container.rollback", "stack.update", "service.update"],
      }),
      status: Job.shape.status.optional(),
      target: Job.shape.target.optional(),
      limit: queryInteger({
        min: 1,
        max: 500,
        fallback: 50,
        description: "Maximum number of entries",
      }),
      cursor: z.string().max(100).optional().meta({ description: "`nextCursor` of a page" }),
    }),
    returns: z.object({
      jobs: z.array(Job),
      nextCursor: z.string().nullable().meta({
        description: "For the next page; null on the last one",
      }),
    }).meta({ id: "JobList" }),
  }, ({ query, caller }) => listJobs(deps, caller, query)),

  endpoint("GET /api/jobs/:id", {
    operationId: "getJob",
    summary: "Get a job",
    ...READ,
    returns: Job,
    failures: UNKNOWN,
  }, ({ params, caller }) => getJob(deps, caller, params.id)),

  endpoint("POST /api/jobs/:id/cancel", {
    operationId: "cancelJob",
    destructive: true,
    summary: "Cancel a job",
    description: "A queued job ends at once. A running job ends when its work has stopped; if it " +
      "has completed by then, it succeeds. Requires the role or permission that starting such a " +
      "job requires.",
    role: "operator",
    scope: "filtered",
    permission: "containers:update",
    orPermissions: ["images:write"],
    returns: Job,
    status: 202,
    failures: { ...UNKNOWN, 409: "The job has ended, or waits for the engine to recover" },
  }, ({ params, caller }) => cancelJob(deps, caller, params.id)),

  rawEndpoint("GET /api/jobs/:id/stream", {
    operationId: "streamJob",
    summary: "Stream a job",
    description: "Sends `step` (a step that started or ended), `progress`, `log` (`{line}`, at " +
      "most the last 500 lines) and, at the end, `done` (the job). Starts with all steps so " +
      "far. A client that reads slowly misses intermediate progress. There are no ids: a client " +
      "that reconnects gets the current state.",
    ...READ,
    acceptsTicket: true,
    returns: z.string().meta({ example: EXAMPLE }),
    produces: "text/event-stream",
    failures: {
      ...UNKNOWN,
      429: "The account or API token has its share of the streams",
      503: "Too many clients are connected",
    },
  }, ({ params, caller }) => eventStream(openJobStream(deps, caller, params.id))),
];
