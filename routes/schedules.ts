/** /api/schedules: container actions at fixed times. @module */

import * as z from "zod";
import { CRON_LENGTH_MAX } from "../services/input/cron.ts";
import { listScheduleRuns, RUN_STATUSES } from "../services/automation/schedules/runs.ts";
import { SCHEDULE_KINDS } from "../services/automation/schedules/kinds.ts";
import {
  changeSchedule,
  createSchedule,
  getSchedule,
  listSchedules,
  removeSchedule,
  setScheduleEnabled,
} from "../services/automation/schedules/schedules.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, EnabledBody, Name, paged, pagingQuery, Timestamp } from "./contract/shapes.ts";
import { ContainerRef } from "./containers/shapes.ts";

const Action = z.enum(SCHEDULE_KINDS.map(({ id }) => id)).meta({
  description: SCHEDULE_KINDS.map(({ id, description }) => `${id}: ${description}`).join(". "),
});

const Kind = z.object({
  id: z.string().meta({ description: "The action of schedules", example: "restart" }),
  title: z.string().meta({ example: "Restart" }),
  description: z.string().meta({ example: "Restarts the container, or starts it" }),
  permission: z.string().meta({
    description: "Required to enable such a schedule, besides schedules:write",
    example: "containers:restart",
  }),
}).meta({ id: "ScheduleKind" });

const settings = {
  name: Name,
  containerId: ContainerRef,
  containerName: ContainerRef.meta({
    description: "Identifies the container after it was recreated",
    example: "web",
  }),
  action: Action,
  cronExpression: z.string().min(1).max(CRON_LENGTH_MAX).meta({
    description: "Five fields: minute, hour, day of month, month, day of week, with lists, " +
      "ranges, steps and names; 0 and 7 are Sunday. If both day fields are restricted, a day " +
      "must match one of them",
    example: "0 3 * * mon-fri",
  }),
};

const TimeZone = z.string().min(1).max(100).meta({
  description: "IANA name. Default: the time zone of the host",
  example: "Europe/Berlin",
});

const AllowMissing = z.boolean().default(false).meta({
  description:
    "Whether the container may be missing; otherwise that is 400, unless the engine is " +
    "unreachable",
});

const NewSchedule = z.object({
  ...settings,
  timezone: TimeZone.optional(),
  allowMissing: AllowMissing,
}).meta({
  id: "NewSchedule",
  example: {
    name: "Restart the shop at night",
    containerId: "web",
    containerName: "web",
    action: "restart",
    cronExpression: "0 3 * * *",
    timezone: "Europe/Berlin",
  },
});

const ScheduleChanges = z.object({ ...settings, timezone: TimeZone, enabled: z.boolean() })
  .partial()
  .extend({ allowMissing: AllowMissing })
  .meta({ id: "ScheduleChanges", example: { cronExpression: "30 4 * * sun" } });

const Schedule = z.object({
  ...settings,
  id: z.string(),
  name: z.string(),
  timezone: TimeZone,
  enabled: z.boolean(),
  createdAt: Timestamp,
  lastRunAt: Timestamp.nullable(),
  nextRunAt: Timestamp.nullable().meta({ description: "null while the schedule is off" }),
}).meta({ id: "Schedule" });

const Run = z.object({
  id: z.string(),
  scheduleId: z.string(),
  scheduleName: z.string(),
  containerId: z.string(),
  containerName: z.string(),
  action: Action,
  startedAt: Timestamp,
  finishedAt: Timestamp,
  status: z.enum(RUN_STATUSES).meta({
    description: "skipped: the previous run was still in progress",
  }),
  error: z.string().nullable(),
}).meta({ id: "ScheduleRun" });

const OWN = { 403: "The role does not allow this, or it is the service's own container" };
const UNKNOWN = { 404: "The schedule does not exist" };

const READ = { role: "viewer", permission: "schedules:read" } as const;
const WRITE = { role: "admin", permission: "schedules:write" } as const;

export const scheduleEndpoints = (deps: Deps) => [
  endpoint("GET /api/schedules", {
    operationId: "listSchedules",
    scope: "filtered",
    summary: "List schedules",
    description: "Sorted by name.",
    ...READ,
    returns: z.object({ schedules: z.array(Schedule) }).meta({ id: "ScheduleList" }),
  }, ({ caller }) => ({ schedules: listSchedules(deps, caller) })),

  endpoint(
    "POST /api/schedules",
    {
      operationId: "createSchedule",
      summary: "Create a schedule",
      description:
        "Runs missed while the service was down are not run later. A local time skipped by a " +
        "clock change is skipped; one that occurs twice runs once. If the engine is " +
        "unreachable or the container no longer exists, the run fails and is not retried. Requires " +
        "the permission for the action as well, such as `containers:restart`.",
      ...WRITE,
      body: NewSchedule,
      returns: Schedule,
      status: 201,
      failures: { 402: "The edition allows no more schedules", ...OWN },
    },
    ({ body: { allowMissing, ...settings }, caller }) =>
      createSchedule(deps, caller, settings, { allowMissing }),
  ),

  endpoint("GET /api/schedules/kinds", {
    operationId: "listScheduleKinds",
    summary: "List schedule kinds",
    ...READ,
    scope: "open",
    etag: true,
    returns: z.object({ kinds: z.array(Kind) }).meta({ id: "ScheduleKindList" }),
  }, () => ({ kinds: [...SCHEDULE_KINDS] })),

  endpoint("GET /api/schedules/history", {
    operationId: "listScheduleRuns",
    scope: "filtered",
    summary: "List schedule runs",
    description:
      "Finished runs, newest first, including runs of deleted schedules. Kept for 90 days, " +
      "at most 1,000 per schedule.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ history: z.array(Run) }).meta({ id: "ScheduleHistory" }),
  }, ({ query, caller }) => listScheduleRuns(deps, query, caller)),

  endpoint("GET /api/schedules/:id", {
    operationId: "getSchedule",
    scope: "filtered",
    summary: "Get a schedule",
    ...READ,
    returns: Schedule,
    failures: UNKNOWN,
  }, ({ params, caller }) => getSchedule(deps, params.id, caller)),

  endpoint(
    "PUT /api/schedules/:id",
    {
      operationId: "updateSchedule",
      summary: "Update a schedule",
      description:
        "Omitted fields keep their values. Requires the permission for the action as well, " +
        "unless the schedule is off afterwards.",
      ...WRITE,
      body: ScheduleChanges,
      returns: Schedule,
      failures: { ...OWN, ...UNKNOWN },
    },
    ({ params, body: { allowMissing, ...change }, caller }) =>
      changeSchedule(deps, caller, params.id, change, { allowMissing }),
  ),

  endpoint("DELETE /api/schedules/:id", {
    operationId: "deleteSchedule",
    summary: "Delete a schedule",
    description: "Past runs are kept in the history.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeSchedule(deps, params.id)),

  endpoint("PUT /api/schedules/:id/toggle", {
    operationId: "toggleSchedule",
    summary: "Enable or disable a schedule",
    description: "Enabling requires the permission for the action as well.",
    ...WRITE,
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Schedule,
    failures: UNKNOWN,
  }, ({ params, body, caller }) => setScheduleEnabled(deps, caller, params.id, body.enabled)),
];
