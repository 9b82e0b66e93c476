/** /api/schedules: actions at fixed times. @module */

import * as z from "zod";
import { CRON_LENGTH_MAX } from "../services/input/cron.ts";
import {
  listScheduleRuns,
  RUN_STATUSES,
  type ScheduleRun,
} from "../services/automation/schedules/runs.ts";
import {
  type Field,
  FIELDS,
  type ScheduleKind,
} from "../services/automation/schedules/kinds/kind.ts";
import {
  SCHEDULE_ACTION_IDS,
  SCHEDULE_KIND_IDS,
  SCHEDULE_KINDS,
} from "../services/automation/schedules/kinds/mod.ts";
import {
  changeSchedule,
  createSchedule,
  getSchedule,
  listSchedules,
  removeSchedule,
  setScheduleEnabled,
} from "../services/automation/schedules/schedules.ts";
import { definedFields } from "../services/change.ts";
import type { Deps } from "../services/deps.ts";
import {
  IncludeSharedUsers,
  MaxUnusedPercent,
  Mode,
  Rules,
  rulesOf,
  TargetName,
  Volumes,
} from "./backup/shapes.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, EnabledBody, Name, paged, pagingQuery, Timestamp } from "./contract/shapes.ts";
import { ContainerRef } from "./containers/shapes.ts";
import { StackParams } from "./stacks/shapes.ts";
import { NEEDS_INCLUDE_VOLUMES, pruneFields, saysVolumesTwice } from "./system/prune_shape.ts";

const Kind = z.enum(SCHEDULE_KIND_IDS).meta({
  description: SCHEDULE_KINDS.map(({ id, description }) => `${id}: ${description}`).join(". "),
});

const Action = z.enum(SCHEDULE_ACTION_IDS).meta({
  description: "Those of each kind: " +
    SCHEDULE_KINDS.map(({ id, actions }) => `${id}: ${actions.map((each) => each.id).join(", ")}`)
      .join("; "),
});

const KindShape = z.object({
  id: Kind.meta({ example: "container" }),
  title: z.string().meta({ example: "Container action" }),
  description: z.string().meta({ example: "Acts on a container" }),
  actions: z.array(z.object({
    id: Action.meta({ example: "restart" }),
    title: z.string().meta({ example: "Restart" }),
    description: z.string().meta({ example: "Restarts the container, or starts it" }),
    permission: z.string().meta({
      description: "Required to enable such a schedule, besides schedules:write",
      example: "containers:restart",
    }),
  })).meta({ description: "The first one is the default" }),
  fields: z.array(z.object({
    name: z.enum(FIELDS).meta({ example: "containerId" }),
    isRequired: z.boolean(),
  })).meta({ description: "Settings that its schedules have besides their times" }),
}).meta({ id: "ScheduleKind" });

/** Settings that only some kinds have. */
const kindSettings = {
  containerId: ContainerRef,
  containerName: ContainerRef.meta({
    description: "Identifies the container after it was recreated",
    example: "web",
  }),
  stack: StackParams.shape.name,
  volumes: Volumes,
  target: TargetName,
  mode: Mode,
  includeSharedUsers: IncludeSharedUsers,
  keep: Rules,
  prune: z.strictObject(pruneFields).refine(saysVolumesTwice, NEEDS_INCLUDE_VOLUMES).meta({
    id: "NewSchedulePrune",
    description: "As in `POST /api/system/prune`",
  }),
  maxUnusedPercent: MaxUnusedPercent,
} satisfies Record<Field, z.ZodType>;

/** Settings that a change can remove. */
const removable = {
  stack: kindSettings.stack.nullable(),
  volumes: kindSettings.volumes.nullable(),
  target: kindSettings.target.nullable(),
  mode: kindSettings.mode.nullable(),
  includeSharedUsers: kindSettings.includeSharedUsers.nullable(),
  keep: kindSettings.keep.nullable(),
  prune: kindSettings.prune.nullable(),
  maxUnusedPercent: kindSettings.maxUnusedPercent.nullable(),
};

const optionalSettings = z.object(kindSettings).partial().shape;

const settings = {
  name: Name,
  kind: Kind,
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
    "Whether the container, stack or volumes may be missing; otherwise that is 400, unless the " +
    "engine is unreachable",
});

const NewSchedule = z.object({
  ...settings,
  kind: Kind.default("container"),
  action: Action.optional(),
  ...optionalSettings,
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

const ScheduleChanges = z.object({
  ...settings,
  ...kindSettings,
  ...removable,
  timezone: TimeZone,
  enabled: z.boolean(),
}).partial().extend({ allowMissing: AllowMissing })
  .meta({ id: "ScheduleChanges", example: { cronExpression: "30 4 * * sun" } });

const StoredPrune = z.object({
  olderThanHours: z.number(),
  kinds: pruneFields.kinds,
  unusedImages: z.boolean(),
  includeVolumes: z.boolean(),
}).meta({ id: "SchedulePrune" });

const Subject = z.string().meta({
  description: "The container, stack, volumes or target that it acts on, in words",
  example: "web",
});

const Schedule = z.object({
  ...settings,
  ...optionalSettings,
  id: z.string(),
  name: z.string(),
  target: z.string().optional().meta({ description: "Name of a backup target" }),
  prune: StoredPrune.optional(),
  subject: Subject,
  timezone: TimeZone,
  enabled: z.boolean(),
  createdAt: Timestamp,
  lastRunAt: Timestamp.nullable(),
  nextRunAt: Timestamp.nullable().meta({ description: "null while the schedule is off" }),
  overdueSince: Timestamp.optional().meta({
    description: "When its backup was reported as overdue; missing if it is not",
  }),
}).meta({ id: "Schedule", description: "With the settings of its kind" });

const Run = z.object({
  id: z.string(),
  scheduleId: z.string(),
  scheduleName: z.string(),
  kind: Kind,
  action: Action,
  containerId: z.string().optional().meta({ description: "Of the kind container" }),
  containerName: z.string().optional().meta({ description: "Of the kind container" }),
  stack: z.string().optional(),
  subject: Subject,
  jobId: z.string().nullable().meta({
    description: "The job that it started; of several, the last one",
  }),
  startedAt: Timestamp,
  finishedAt: Timestamp,
  status: z.enum(RUN_STATUSES).meta({
    description: "skipped: the previous run was still in progress, or a label leaves the stack out",
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
        "unreachable or the container no longer exists, the run fails and is not retried. A run that " +
        "starts a job succeeds or fails with it. `GET /api/schedules/kinds` lists the settings of " +
        "each kind. Requires the permission for the action as well, such as `containers:restart`; " +
        "`keep` requires `backup:write`, and the prune of volumes `volumes:prune`.",
      ...WRITE,
      body: NewSchedule,
      returns: Schedule,
      status: 201,
      failures: { 402: "The edition allows no more schedules", ...OWN },
    },
    ({ body: { allowMissing, ...settings }, caller }) =>
      createSchedule(deps, caller, toSettings(settings), { allowMissing }),
  ),

  endpoint("GET /api/schedules/kinds", {
    operationId: "listScheduleKinds",
    summary: "List schedule kinds",
    ...READ,
    scope: "open",
    etag: true,
    returns: z.object({ kinds: z.array(KindShape) }).meta({ id: "ScheduleKindList" }),
  }, () => ({ kinds: SCHEDULE_KINDS.map(toDescription) })),

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
  }, ({ query, caller }) => {
    const { history, ...page } = listScheduleRuns(deps, query, caller);
    return { history: history.map(toRun), ...page };
  }),

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
        "Omitted fields keep their values, null removes one. Requires the permissions for what it " +
        "does as well, unless the schedule is off afterwards.",
      ...WRITE,
      body: ScheduleChanges,
      returns: Schedule,
      failures: { ...OWN, ...UNKNOWN },
    },
    ({ params, body: { allowMissing, ...change }, caller }) =>
      changeSchedule(deps, caller, params.id, toSettings(change), { allowMissing }),
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

/** Leaves out the rules and options that are not given. */
const toSettings = <
  Of extends Pick<z.output<typeof ScheduleChanges>, "keep" | "prune">,
>({ keep, prune, ...rest }: Of) => ({
  ...rest,
  keep: keep && rulesOf(keep),
  prune: prune && definedFields(prune),
});

const toDescription = ({ id, title, description, actions, fields }: ScheduleKind) => ({
  id,
  title,
  description,
  actions: [...actions],
  fields: FIELDS.flatMap((name) =>
    fields[name] ? [{ name, isRequired: fields[name] === "required" }] : []
  ),
});

/** Only runs of a container or of a stack have one. */
const toRun = ({ containerId, containerName, stack, ...run }: ScheduleRun) => ({
  ...run,
  ...(containerId !== null && { containerId }),
  ...(containerName !== null && { containerName }),
  ...(stack !== null && { stack }),
});
