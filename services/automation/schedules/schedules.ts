/** Schedules: container actions at the times of a cron expression. @module */

import {
  countSchedules,
  deleteSchedule,
  insertSchedule,
  type Schedule as StoredSchedule,
  selectSchedule,
  selectSchedules,
  updateSchedule,
  updateScheduleEnabled,
} from "../../../db/schedules.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { applyChange, type Change } from "../../change.ts";
import { assertMayDo, type Caller } from "../../access/caller.ts";
import { includesContainer, isLimited, type Scope } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import { assertNotSelf } from "../../containers/actions.ts";
import { type ReadDeps, resolveContainer } from "../../containers/reads.ts";
import { scheduleKind } from "./kinds.ts";
import { assertCron, hostTimeZone, nextDue, normalizeTimeZone } from "../../input/cron.ts";

/** A schedule with its next run. */
interface Schedule extends StoredSchedule {
  /** ISO 8601, UTC; `null` while disabled. */
  nextRunAt: string | null;
}

/** The settings of a schedule in requests. */
interface ScheduleSettings {
  name: string;
  containerId: string;
  containerName: string;
  /** The id of its kind. */
  action: string;
  cronExpression: string;
  /** IANA time zone; default: the host's. */
  timezone?: string | undefined;
}

type ScopedDeps = Pick<Deps, "db" | "inventory" | "now">;

/** All schedules in the scope of the caller, by name. */
export function listSchedules(deps: ScopedDeps, { scope }: Pick<Caller, "scope">): Schedule[] {
  return selectSchedules(deps.db)
    .filter((schedule) => isInScope(deps, scope, schedule))
    .map((schedule) => withNextRun(schedule, deps.now()));
}

/** @throws {AppError} `not_found`, also for a schedule outside of the caller's scope. */
export function getSchedule(
  deps: ScopedDeps,
  id: string,
  { scope }: Pick<Caller, "scope">,
): Schedule {
  const schedule = findSchedule(deps.db, id);
  if (!isInScope(deps, scope, schedule)) throw notFound("Schedule", id);
  return withNextRun(schedule, deps.now());
}

/**
 * Whether a schedule or a run is in a scope: its container must exist, and all containers that its id
 * and name may refer to must be in the scope.
 */
export function isInScope(
  { inventory }: Pick<Deps, "inventory">,
  scope: Scope | undefined,
  { containerId, containerName }: Pick<StoredSchedule, "containerId" | "containerName">,
): boolean {
  if (!isLimited(scope)) return true;
  const referred = inventory.listFollowed().filter(({ id, name }) =>
    name === containerName || name === containerId || id.startsWith(containerId)
  );
  return referred.length > 0 && referred.every((each) => includesContainer(scope, each));
}

interface CheckOptions {
  /** Whether the container of a schedule may be missing. */
  allowMissing?: boolean;
}

/**
 * Stores a new, enabled schedule.
 *
 * @throws {AppError} `invalid` for an expression that is not five-field cron, an unknown time zone
 * and a missing container; `forbidden` if it would stop the service's own container, and for a caller
 * without the permission for the action.
 * @throws {LimitError} When the edition's limit of schedules is reached.
 */
export async function createSchedule(
  deps: ReadDeps & Pick<Deps, "db" | "license" | "now">,
  caller: Caller,
  settings: ScheduleSettings,
  { allowMissing = false }: CheckOptions = {},
): Promise<Schedule> {
  const { db, license, now } = deps;
  assertMayRun(caller, settings);
  const schedule: StoredSchedule = {
    ...settings,
    timezone: settings.timezone ?? hostTimeZone(),
    id: crypto.randomUUID(),
    enabled: true,
    createdAt: now().toISOString(),
    lastRunAt: null,
  };
  const prepared = await prepareSchedule(deps, schedule);
  if (!allowMissing) await assertContainerExists(deps, schedule);
  assertBelowLimit(license, "schedules", countSchedules(db));
  insertSchedule(db, prepared);
  return withNextRun(prepared, now());
}

/**
 * Changes a schedule. An active run is not affected.
 *
 * @throws {AppError} As `createSchedule()`; `not_found`.
 */
export async function changeSchedule(
  deps: ReadDeps & Pick<Deps, "db" | "now">,
  caller: Caller,
  id: string,
  change: Change<ScheduleSettings & Pick<Schedule, "enabled">>,
  { allowMissing = false }: CheckOptions = {},
): Promise<Schedule> {
  const { db, now } = deps;
  const before = findSchedule(db, id);
  const after = applyChange(before, change);
  await prepareSchedule(deps, after);
  const hasOtherContainer = after.containerId !== before.containerId ||
    after.containerName !== before.containerName;
  if (hasOtherContainer && !allowMissing) await assertContainerExists(deps, after);
  // Read again, because it may have been changed or deleted during the check.
  const changed = applyChange(findSchedule(db, id), change);
  assertMayEnable(caller, changed);
  changed.timezone = normalizeTimeZone(changed.timezone);
  updateSchedule(db, changed);
  return withNextRun(changed, now());
}

/**
 * Enables or disables a schedule.
 *
 * @throws {AppError} `not_found`; `forbidden` for a caller who may not do what it would do.
 */
export function setScheduleEnabled(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  id: string,
  enabled: boolean,
): Schedule {
  assertMayEnable(caller, { ...findSchedule(db, id), enabled });
  updateScheduleEnabled(db, id, enabled);
  return withNextRun(findSchedule(db, id), now());
}

/** A schedule that is off does nothing: every user with `schedules:write` can turn it off. */
function assertMayEnable(caller: Caller, { enabled, action }: StoredSchedule): void {
  if (enabled) assertMayRun(caller, { action });
}

const assertMayRun = (caller: Caller, { action }: Pick<StoredSchedule, "action">): void =>
  assertMayDo(caller, "operator", scheduleKind(action).permission);

/** Deletes a schedule; its past runs stay in the history. @throws {AppError} `not_found`. */
export function removeSchedule({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteSchedule(db, id)) throw notFound("Schedule", id);
}

/**
 * Finds the container of a schedule by id, or by name because a recreated container keeps it.
 *
 * @throws {AppError} `not_found` if neither exists.
 * @throws {EngineUnreachableError}
 */
export async function scheduledContainer(
  deps: ReadDeps,
  { containerId, containerName }: Pick<StoredSchedule, "containerId" | "containerName">,
): Promise<Container> {
  const byId = await findContainer(deps, containerId);
  if (byId) return byId;
  const byName = await findContainer(deps, containerName);
  // A name may also be the beginning of another container's id.
  if (byName?.name === containerName) return byName;
  throw new AppError("not_found", `Container ${containerName} no longer exists`);
}

/** Refuses a schedule only if the engine reports the container as missing, not if it is unreachable. */
async function assertContainerExists(deps: ReadDeps, schedule: StoredSchedule): Promise<void> {
  try {
    await scheduledContainer(deps, schedule);
  } catch (error) {
    if (error instanceof EngineUnreachableError) return;
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    const { containerId, containerName } = schedule;
    const names = containerId === containerName
      ? containerName
      : `${containerId} (${containerName})`;
    throw new AppError(
      "invalid",
      `body.containerId: Container ${names} does not exist; use allowMissing to accept it`,
    );
  }
}

async function findContainer(deps: ReadDeps, ref: string): Promise<Container | undefined> {
  try {
    return await resolveContainer(deps, ref);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Checks a schedule and normalizes its time zone. */
async function prepareSchedule(deps: ReadDeps, schedule: StoredSchedule): Promise<StoredSchedule> {
  assertCron(schedule.cronExpression);
  const timezone = normalizeTimeZone(schedule.timezone);
  if (!scheduleKind(schedule.action).mayBeOwn) await assertNotOwn(deps, schedule);
  return { ...schedule, timezone };
}

/**
 * Checks id and name separately, because the name is used if the id no longer exists. A missing
 * container and an unreachable engine are accepted, because each run checks again.
 */
async function assertNotOwn(
  deps: ReadDeps,
  { containerId, containerName, action }: StoredSchedule,
): Promise<void> {
  for (const ref of [containerId, containerName]) {
    try {
      const container = await findContainer(deps, ref);
      if (container) assertNotSelf(container, scheduleKind(action).participle);
    } catch (error) {
      if (!(error instanceof EngineUnreachableError)) throw error;
    }
  }
}

function withNextRun(schedule: StoredSchedule, now: Date): Schedule {
  const { enabled, cronExpression, timezone } = schedule;
  const nextRunAt = enabled ? nextDue(cronExpression, timezone, now).toISOString() : null;
  return { ...schedule, nextRunAt };
}

function findSchedule(db: Deps["db"], id: string): StoredSchedule {
  return requireFound(selectSchedule(db, id), "Schedule", id);
}
