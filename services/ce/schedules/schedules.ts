/**
 * Schedules: container actions run by the clock.
 *
 * @module
 */

import {
  countSchedules,
  deleteSchedule,
  insertSchedule,
  type Schedule as StoredSchedule,
  type ScheduleAction,
  selectSchedule,
  selectSchedules,
  updateSchedule,
  updateScheduleEnabled,
} from "../../../db/ce/schedules.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import { assertNotSelf } from "../containers/actions.ts";
import { type ReadDeps, resolveContainer } from "../containers/reads.ts";
import { assertCron, hostTimeZone, nextDue, timeZoneNamed } from "./cron.ts";

export { SCHEDULE_ACTIONS } from "../../../db/ce/schedules.ts";

/** A schedule as shown. */
export interface Schedule extends StoredSchedule {
  /** ISO 8601, UTC; `null` while it is off. */
  nextRunAt: string | null;
}

/** What the caller decides about a schedule. */
export interface ScheduleSettings {
  name: string;
  containerId: string;
  containerName: string;
  action: ScheduleAction;
  cronExpression: string;
  /** IANA; default the host's. */
  timezone?: string | undefined;
}

/** All schedules by name. */
export function listSchedules({ db, now }: Pick<Deps, "db" | "now">): Schedule[] {
  return selectSchedules(db).map((schedule) => withNextRun(schedule, now()));
}

/** @throws {AppError} `not_found`. */
export function getSchedule({ db, now }: Pick<Deps, "db" | "now">, id: string): Schedule {
  return withNextRun(existing(db, id), now());
}

/** Whether the container of a schedule may be missing. */
interface Missing {
  allowMissing?: boolean;
}

/**
 * Stores a new schedule that is on.
 *
 * @throws {AppError} `invalid` for an expression that is not five-field cron, an unknown time zone
 * and a missing container; `forbidden` where it would stop the service's own container.
 * @throws {LimitError} When the edition allows no more schedules.
 */
export async function createSchedule(
  deps: ReadDeps & Pick<Deps, "db" | "license" | "now">,
  settings: ScheduleSettings,
  { allowMissing = false }: Missing = {},
): Promise<Schedule> {
  const { db, license, now } = deps;
  const schedule: StoredSchedule = {
    ...settings,
    timezone: settings.timezone ?? hostTimeZone(),
    id: crypto.randomUUID(),
    enabled: true,
    createdAt: now().toISOString(),
    lastRunAt: null,
  };
  const checked = await checkedSchedule(deps, schedule);
  if (!allowMissing) await assertContainerExists(deps, schedule);
  assertBelowLimit(license, "schedules", countSchedules(db));
  insertSchedule(db, checked);
  return withNextRun(checked, now());
}

/**
 * Changes a schedule; a run under way ends as it began.
 *
 * @throws {AppError} As at creation; `not_found`.
 */
export async function changeSchedule(
  deps: ReadDeps & Pick<Deps, "db" | "now">,
  id: string,
  change: Change<ScheduleSettings & Pick<Schedule, "enabled">>,
  { allowMissing = false }: Missing = {},
): Promise<Schedule> {
  const { db, now } = deps;
  const before = existing(db, id);
  const after = applyChange(before, change);
  await checkedSchedule(deps, after);
  const isOther = after.containerId !== before.containerId ||
    after.containerName !== before.containerName;
  if (isOther && !allowMissing) await assertContainerExists(deps, after);
  // Read again: it may have been changed or have gone during the check.
  const { timezone, ...schedule } = applyChange(existing(db, id), change);
  const changed = { ...schedule, timezone: timeZoneNamed(timezone) };
  updateSchedule(db, changed);
  return withNextRun(changed, now());
}

/** @returns The schedule as it is now. @throws {AppError} `not_found`. */
export function setScheduleEnabled(
  { db, now }: Pick<Deps, "db" | "now">,
  id: string,
  enabled: boolean,
): Schedule {
  updateScheduleEnabled(db, id, enabled);
  return withNextRun(existing(db, id), now());
}

/** Deletes a schedule; its past runs stay in the history. @throws {AppError} `not_found`. */
export function removeSchedule({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteSchedule(db, id)) throw notFound("Schedule", id);
}

/**
 * The container that a schedule is about: the one with its id, else the one with its name, which
 * is what a recreated container keeps.
 *
 * @throws {AppError} `not_found` when there is neither.
 * @throws {EngineUnreachableError}
 */
export async function scheduledContainer(
  deps: ReadDeps,
  { containerId, containerName }: Pick<StoredSchedule, "containerId" | "containerName">,
): Promise<Container> {
  const byId = await resolved(deps, containerId);
  if (byId) return byId;
  const byName = await resolved(deps, containerName);
  // A name may also read like the beginning of another container's id.
  if (byName?.name === containerName) return byName;
  throw new AppError("not_found", `The container ${containerName} does not exist any more`);
}

/** A container is missing only where the engine says so: an unreachable one is no reason to refuse. */
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
      `body.containerId: container ${names} does not exist; allowMissing accepts it nevertheless`,
    );
  }
}

async function resolved(deps: ReadDeps, ref: string): Promise<Container | undefined> {
  try {
    return await resolveContainer(deps, ref);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function checkedSchedule(
  deps: ReadDeps,
  schedule: StoredSchedule,
): Promise<StoredSchedule> {
  assertCron(schedule.cronExpression);
  const timezone = timeZoneNamed(schedule.timezone);
  if (schedule.action !== "start") await assertNotOwn(deps, schedule);
  return { ...schedule, timezone };
}

/**
 * Checks id and name separately, because the name counts once the id is gone. Each run checks again,
 * so a missing container and an unreachable engine are no reason to refuse here.
 */
async function assertNotOwn(
  deps: ReadDeps,
  { containerId, containerName, action }: StoredSchedule,
): Promise<void> {
  for (const ref of [containerId, containerName]) {
    try {
      const container = await resolved(deps, ref);
      if (container) assertNotSelf(container, action === "stop" ? "stopped" : "restarted");
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

function existing(db: Deps["db"], id: string): StoredSchedule {
  const schedule = selectSchedule(db, id);
  if (!schedule) throw notFound("Schedule", id);
  return schedule;
}
