/** Schedules: actions at the times of a cron expression. @module */

import {
  countSchedules,
  deleteSchedule,
  insertSchedule,
  type Schedule as StoredSchedule,
  selectSchedule,
  selectSchedules,
  updateSchedule,
} from "../../../db/schedules.ts";
import { definedFields } from "../../change.ts";
import type { Caller } from "../../access/caller.ts";
import { isLimited, type Scope } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { notFound, requireFound } from "../../errors.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import type { CheckDeps, Plan } from "./kinds/kind.ts";
import { scheduleKind } from "./kinds/mod.ts";
import {
  assertMayRun,
  planOf,
  type ScheduleSettings,
  settingsOf,
  shownSettings,
} from "./settings.ts";
import { assertCron, hostTimeZone, nextDue, normalizeTimeZone } from "../../input/cron.ts";

/** A schedule as the API returns it, with the settings of its kind. */
export type Schedule =
  & Pick<
    StoredSchedule,
    | "id"
    | "name"
    | "kind"
    | "action"
    | "cronExpression"
    | "timezone"
    | "enabled"
    | "createdAt"
    | "lastRunAt"
  >
  & ReturnType<typeof shownSettings>
  & {
    /** The object that it acts on, in words. */
    subject: string;
    /** ISO 8601, UTC; `null` while disabled. */
    nextRunAt: string | null;
    /** Since when its backup is reported as overdue; missing if it is not. */
    overdueSince?: string;
  };

type ScopedDeps = Pick<Deps, "db" | "inventory" | "now">;

/** All schedules in the scope of the caller, by name. */
export function listSchedules(deps: ScopedDeps, { scope }: Pick<Caller, "scope">): Schedule[] {
  return selectSchedules(deps.db)
    .filter((schedule) => isInScope(deps, scope, schedule))
    .map((schedule) => toView(deps, schedule));
}

/** @throws {AppError} `not_found`, also for a schedule outside of the caller's scope. */
export function getSchedule(
  deps: ScopedDeps,
  id: string,
  { scope }: Pick<Caller, "scope">,
): Schedule {
  const schedule = findSchedule(deps.db, id);
  if (!isInScope(deps, scope, schedule)) throw notFound("Schedule", id);
  return toView(deps, schedule);
}

/**
 * Whether a schedule or a run is in a scope. A container must exist, and all containers that its id and
 * name may refer to must be in the scope; what is about no container or stack is in no limited scope.
 */
export function isInScope(
  deps: Pick<Deps, "inventory">,
  scope: Scope | undefined,
  plan: Pick<Plan, "kind" | "containerId" | "containerName" | "stack">,
): boolean {
  return !isLimited(scope) || scheduleKind(plan.kind).isInScope(deps, scope, plan);
}

interface CheckOptions {
  /** Whether the container, stack or volumes of a schedule may be missing. */
  allowMissing?: boolean;
}

/**
 * Stores a new, enabled schedule.
 *
 * @throws {AppError} `invalid` for an expression that is not five-field cron, an unknown time zone,
 * settings that the kind does not have and a missing container, stack or volume; `forbidden` if it would
 * stop the service's own container, and for a caller without the permission for the action.
 * @throws {LimitError} When the edition's limit of schedules is reached.
 */
export async function createSchedule(
  deps: CheckDeps & Pick<Deps, "license">,
  caller: Caller,
  settings: ScheduleSettings,
  { allowMissing = false }: CheckOptions = {},
): Promise<Schedule> {
  const { db, license, now } = deps;
  const plan = planOf(deps, settings);
  assertMayRun(caller, plan);
  const { name, cronExpression, timezone = hostTimeZone() } = settings;
  assertCron(cronExpression);
  const at = now().toISOString();
  const schedule: StoredSchedule = {
    ...plan,
    id: crypto.randomUUID(),
    name,
    cronExpression,
    timezone: normalizeTimeZone(timezone),
    enabled: true,
    createdAt: at,
    activeSince: at,
    lastRunAt: null,
    overdueSince: null,
  };
  await scheduleKind(plan.kind).check?.(deps, plan, { allowMissing });
  assertBelowLimit(license, "schedules", countSchedules(db));
  insertSchedule(db, schedule);
  return toView(deps, schedule);
}

/** Some of the settings. */
type ScheduleChange = { [Name in keyof ScheduleSettings]?: ScheduleSettings[Name] | undefined } & {
  enabled?: boolean | undefined;
};

/**
 * Changes a schedule. An active run is not affected.
 *
 * @throws {AppError} As `createSchedule()`; `not_found`.
 */
export async function changeSchedule(
  deps: CheckDeps,
  caller: Caller,
  id: string,
  change: ScheduleChange,
  { allowMissing = false }: CheckOptions = {},
): Promise<Schedule> {
  const { db } = deps;
  const before = findSchedule(db, id);
  const after = changed(deps, before, change);
  assertCron(after.cronExpression);
  normalizeTimeZone(after.timezone);
  await scheduleKind(after.kind).check?.(deps, after, { allowMissing, before });
  // Read again, because it may have been changed or deleted during the check.
  const current = findSchedule(db, id);
  const schedule = changed(deps, current, change);
  assertMayEnable(caller, schedule);
  schedule.timezone = normalizeTimeZone(schedule.timezone);
  updateSchedule(db, schedule);
  return toView(deps, schedule);
}

/** A schedule after a change. One that gets other settings is overdue only later. */
function changed(
  deps: Pick<Deps, "db" | "now">,
  schedule: StoredSchedule,
  { enabled = schedule.enabled, ...given }: ScheduleChange,
): StoredSchedule {
  const change = definedFields(given);
  const settings = { ...settingsOf(schedule), ...change };
  // The actions of another kind have other meanings.
  if (change.kind !== undefined && change.kind !== schedule.kind) settings.action = change.action;
  const { name, cronExpression, timezone = schedule.timezone } = settings;
  const after = {
    ...schedule,
    ...planOf(deps, settings, change),
    name,
    cronExpression,
    timezone,
    enabled,
  };
  const isSame =
    JSON.stringify({ ...after, name: "" }) === JSON.stringify({ ...schedule, name: "" });
  return isSame ? after : { ...after, activeSince: deps.now().toISOString() };
}

/**
 * Enables or disables a schedule.
 *
 * @throws {AppError} `not_found`; `forbidden` for a caller who may not do what it would do.
 */
export function setScheduleEnabled(
  deps: Pick<Deps, "db" | "now">,
  caller: Caller,
  id: string,
  enabled: boolean,
): Schedule {
  const schedule = changed(deps, findSchedule(deps.db, id), { enabled });
  assertMayEnable(caller, schedule);
  updateSchedule(deps.db, schedule);
  return toView(deps, schedule);
}

/** A schedule that is off does nothing: every user with `schedules:write` can turn it off. */
function assertMayEnable(caller: Caller, schedule: StoredSchedule): void {
  if (schedule.enabled) assertMayRun(caller, schedule);
}

/** Deletes a schedule; its past runs stay in the history. @throws {AppError} `not_found`. */
export function removeSchedule({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteSchedule(db, id)) throw notFound("Schedule", id);
}

function toView(deps: Pick<Deps, "db" | "now">, schedule: StoredSchedule): Schedule {
  const { id, name, kind, action, cronExpression, timezone, enabled, overdueSince } = schedule;
  return {
    id,
    name,
    kind,
    action,
    subject: scheduleKind(kind).subject(deps, schedule),
    ...shownSettings(deps, schedule),
    cronExpression,
    timezone,
    enabled,
    createdAt: schedule.createdAt,
    lastRunAt: schedule.lastRunAt,
    nextRunAt: enabled ? nextDue(cronExpression, timezone, deps.now()).toISOString() : null,
    ...(enabled && overdueSince !== null && { overdueSince }),
  };
}

function findSchedule(db: Deps["db"], id: string): StoredSchedule {
  return requireFound(selectSchedule(db, id), "Schedule", id);
}
