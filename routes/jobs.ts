/** /api/jobs: work that takes longer than a request. @module */

import * as z from "zod";
import { JOB_KINDS } from "../services/community/job_kinds.ts";
import { cancelJob, getJob, listJobs } from "../services/jobs/jobs.ts";
import { failInterrupted, JOB_GROUPS, type NamedJobKind } from "../services/jobs/kind.ts";
import { openJobStream } from "../services/jobs/stream.ts";
import { JOB_PERMISSIONS } from "../services/jobs/view.ts";
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
  permission: "images:read",
  orPermissions: Object.values(JOB_PERMISSIONS).filter((each) => each !== "images:read"),
} as const;

const CANCEL = new Set(JOB_KINDS.map(({ permission }) => permission));

const Kind = z.object({
  id: z.string().meta({ example: "container.update" }),
  group: z.enum(JOB_GROUPS).meta({ description: "Part of the dashboard that shows its jobs" }),
  title: z.string().meta({ example: "Update" }),
  running: z.string().meta({
    description: "A job in progress; {target} stands for its target",
    example: "Updating {target}",
  }),
  steps: z.record(z.string(), z.string()).meta({
    description: "Its steps in words; those on several containers are numbered, as in `create 2`",
    example: { pull: "Pull the image", swap: "Replace the old container" },
  }),
  unit: z.enum(["bytes", "steps"]).meta({ description: "Of its progress" }),
  targetType: Job.shape.targetType,
  readPermission: z.string().meta({
    description: "Required to see its jobs",
    example: "containers:read",
  }),
  role: z.enum(["viewer", "operator", "admin"]).meta({
    description:
      "Least role that starts and cancels its jobs, unless the caller has the permission",
  }),
  permission: z.string().meta({ example: "containers:update" }),
  isResumed: z.boolean().meta({
    description: "Whether a job that a stop of the service interrupted is continued or rolled " +
      "back; otherwise it has failed",
  }),
  isListed: z.boolean().meta({ description: "Whether the dashboard lists ended jobs" }),
}).meta({ id: "JobKind" });

const toDescription = (kind: NamedJobKind) => ({
  ...kind,
  steps: kind.steps ?? {},
  unit: kind.unit ?? "steps" as const,
  readPermission: JOB_PERMISSIONS[kind.targetType],
  isResumed: kind.recover !== failInterrupted,
  isListed: kind.isListed ?? false,
});

export const jobEndpoints = (deps: Deps) => [
  endpoint("GET /api/jobs", {
    operationId: "listJobs",
    summary: "List jobs",
    description: "Newest first. Finished jobs are kept for 90 days. At most four jobs run at a " +
      "time; further ones are queued. An API token that is limited to stacks or containers sees " +
      "the jobs on them.",
    ...READ,
    scope: "filtered",
    query: z.object({
      kind: z.preprocess(
        (text) => typeof text === "string" ? text.split(",").map((kind) => kind.trim()) : text,
        z.array(Job.shape.kind).max(20).optional(),
      ).meta({
        description: "Only jobs of these kinds, separated by commas",
        example: ["container.update", "stack.update"],
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

  endpoint("GET /api/jobs/kinds", {
    operationId: "listJobKinds",
    summary: "List job kinds",
    description: "With the words for jobs in progress and their steps.",
    ...READ,
    scope: "open",
    etag: true,
    returns: z.object({ kinds: z.array(Kind) }).meta({ id: "JobKindList" }),
  }, () => ({ kinds: JOB_KINDS.map(toDescription) })),

  endpoint("GET /api/jobs/:id", {
    operationId: "getJob",
    summary: "Get a job",
    ...READ,
    scope: "filtered",
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
    orPermissions: [...CANCEL].filter((each) => each !== "containers:update"),
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
    scope: "filtered",
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
