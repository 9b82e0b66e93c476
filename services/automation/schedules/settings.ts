/** Settings of schedules as requests have them, and as they are stored. @module */

import type { Schedule, ScheduleOptions } from "../../../db/schedules.ts";
import { assertAdminLogin, assertMayDo, type Caller } from "../../access/caller.ts";
import { leastRole, parsePermission } from "../../access/permissions.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { findTarget } from "../../backup/targets/targets.ts";
import { fieldError, targetName } from "./kinds/checks.ts";
import { type Field, FIELDS, type Plan } from "./kinds/kind.ts";
import { findAction, scheduleKind } from "./kinds/mod.ts";

/** Settings that only some kinds have. `null` removes one. */
type KindSettings =
  & { [Name in "containerId" | "containerName" | "stack"]?: string | null | undefined }
  & { [Name in keyof ScheduleOptions]?: ScheduleOptions[Name] | null | undefined };

/** The settings of a schedule in requests. */
export interface ScheduleSettings extends KindSettings {
  name: string;
  kind: string;
  /** Default: the first one of the kind. */
  action?: string | undefined;
  cronExpression: string;
  /** IANA time zone; default: the host's. */
  timezone?: string | undefined;
}

/**
 * Checks that the kind has the given settings and that none is missing, and removes what another kind
 * left.
 *
 * @param given The fields of the request.
 * @throws {AppError} `invalid`.
 */
export function planOf(
  deps: Pick<Deps, "db">,
  settings: Omit<ScheduleSettings, "name" | "cronExpression" | "timezone">,
  given: Partial<ScheduleSettings> = settings,
): Plan {
  const { kind } = settings;
  const { actions, fields } = scheduleKind(kind);
  const action = settings.action ?? actions[0]!.id;
  if (!findAction({ kind, action })) {
    throw fieldError("action", `must be one of ${actions.map(({ id }) => id).join(", ")}`);
  }
  const kept: Partial<Record<Field, unknown>> = {};
  for (const field of FIELDS) {
    if (fields[field] === undefined) {
      if (given[field] === undefined || given[field] === null) continue;
      throw fieldError(field, `is not used by the kind ${kind}; leave it out`);
    }
    const value = settings[field] ?? undefined;
    if (value !== undefined) kept[field] = value;
    else if (fields[field] === "required") {
      throw fieldError(field, `is required for the kind ${kind}`);
    }
  }
  const { containerId = null, containerName = null, stack = null, ...options } = kept as
    & Partial<Pick<Plan, "containerId" | "containerName" | "stack">>
    & ScheduleOptions;
  return {
    kind,
    action,
    containerId,
    containerName,
    stack,
    options: {
      ...options,
      // The stored one may have been deleted.
      ...(given.target && { target: idOfTarget(deps, given.target) }),
      ...(options.volumes && { volumes: [...new Set(options.volumes)].sort() }),
    },
  };
}

/** The settings that requests can change, of a stored schedule. */
export function settingsOf(schedule: Schedule): ScheduleSettings {
  const { name, cronExpression, timezone, kind, action, ...stored } = schedule;
  const { containerId, containerName, stack, options } = stored;
  const settings = { name, kind, action, cronExpression, timezone };
  return { ...settings, containerId, containerName, stack, ...options };
}

/** The settings of a kind as responses have them: without those that it does not have. */
export function shownSettings(deps: Pick<Deps, "db">, plan: Plan) {
  const { containerId, containerName, stack, options } = plan;
  return {
    ...(containerId !== null && { containerId }),
    ...(containerName !== null && { containerName }),
    ...(stack !== null && { stack }),
    ...options,
    ...(options.target !== undefined && { target: targetName(deps, options.target) }),
  };
}

/**
 * The permission to change schedules is not enough to let one act.
 *
 * @throws {AppError} `forbidden`
 */
export function assertMayRun(caller: Caller, plan: Plan): void {
  const { permissions, needsLogin } = scheduleKind(plan.kind);
  if (needsLogin) assertAdminLogin(caller, `enable schedules of the kind ${plan.kind}`);
  const needed = [findAction(plan)!.permission, ...permissions?.(plan.options) ?? []];
  for (const name of needed) assertMayDo(caller, leastRole(parsePermission(name)), name);
}

/** @param ref Id or name. @throws {AppError} `invalid`. */
function idOfTarget(deps: Pick<Deps, "db">, ref: string): string {
  try {
    return findTarget(deps, ref).id;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw fieldError("target", error.message);
  }
}
