/**
 * Alert events: when rules fired and when they resolved.
 *
 * @module
 */

import {
  type AlertEvent,
  countAlertEvents,
  deleteAlertEventsBefore,
  deleteAlertEventsBeyond,
  insertAlertEvent,
  selectAlertEvent,
  selectAlertEvents,
  selectAlertEventsVersion,
  selectOpenAlertEvent,
  selectOpenAlertEvents,
  updateAlertEventResolved,
} from "../../../db/ce/alert_events.ts";
import {
  type AlertProgress,
  type AlertRule,
  updateAlertProgress,
} from "../../../db/ce/alert_rules.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { notFound } from "../../errors.ts";
import type { AlertData } from "../../events/events.ts";

/** An event in lists and stream frames, with snake case aliases that some clients read. */
export interface AlertEventView extends AlertEvent {
  rule_name: string;
  /** Same as `firedAt`. */
  created_at: string;
}

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Limit of stored resolved events. */
const EVENTS_MAX = 10_000;

/** Number of recent events in stream frames. */
const RECENT_MAX = 20;

/** Newest first. */
export function listAlertEvents(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { events: AlertEventView[]; total: number; limit: number; offset: number } {
  return {
    events: selectAlertEvents(db, { limit, offset }).map(asView),
    total: countAlertEvents(db),
    limit,
    offset,
  };
}

/** @throws {AppError} `not_found`. */
export function getAlertEvent({ db }: Pick<Deps, "db">, id: string): AlertEventView {
  const event = selectAlertEvent(db, id);
  if (!event) throw notFound("Alert event", id);
  return asView(event);
}

/** Firing and recent events, newest first. */
export function alertOverview(
  { db }: Pick<Deps, "db">,
): { firing: AlertEventView[]; recent: AlertEventView[] } {
  return {
    firing: selectOpenAlertEvents(db).map(asView),
    recent: selectAlertEvents(db, { limit: RECENT_MAX, offset: 0 }).map(asView),
  };
}

/** Changes whenever the result of `alertOverview()` changes. */
export function alertVersion({ db }: Pick<Deps, "db">): string {
  return selectAlertEventsVersion(db);
}

/** The metric when the state of a rule changed. */
export interface AlertReading {
  value: number;
  /** Names of the containers counted by `value`. */
  containers?: readonly string[] | undefined;
}

/** Limit of container names in an event, and in its message. */
const NAMED_MAX = 100;
const NAMED_IN_MESSAGE = 10;

/** Stores and emits `alert.fired`. */
export function fireAlert(
  deps: EmitDeps,
  rule: AlertRule,
  progress: AlertProgress,
  { value, containers }: AlertReading,
): void {
  const { id: ruleId, name: ruleName, metric, operator, threshold, durationSeconds } = rule;
  const lasted = durationSeconds > 0 ? ` for ${durationSeconds} s` : "";
  const event: AlertEvent = {
    id: crypto.randomUUID(),
    ruleId,
    ruleName,
    metric,
    operator,
    threshold,
    value,
    message: `${ruleName}: ${metric} is ${value} (${operator} ${threshold}${lasted})` +
      nameList(containers),
    firedAt: progress.lastFiredAt ?? deps.now().toISOString(),
    resolvedAt: null,
  };
  emit(deps, "alert.fired", dataOf(event, containers), () => {
    insertAlertEvent(deps.db, event);
    updateAlertProgress(deps.db, ruleId, progress);
  });
}

/** Resolves the open event of a rule because its condition does not hold any more. */
export function resolveAlert(
  deps: EmitDeps,
  rule: AlertRule,
  progress: AlertProgress,
  { value, containers }: AlertReading,
): void {
  const { name, metric, operator, threshold } = rule;
  endAlert(deps, rule.id, {
    message: `${name}: ${metric} is ${value} (no longer ${operator} ${threshold})`,
    value,
    containers,
    store: () => updateAlertProgress(deps.db, rule.id, progress),
  });
}

/**
 * Resolves the open event of a rule, if there is one, and emits `alert.resolved`.
 *
 * @param value Current value of the metric; default: the value when the rule fired.
 * @param store Stores the cause in the same transaction; also called without an open event.
 */
export function endAlert(
  deps: EmitDeps,
  ruleId: string,
  { message, value, containers, store }: Partial<AlertReading> & {
    message: string;
    store: () => void;
  },
): void {
  const { db, now } = deps;
  const open = selectOpenAlertEvent(db, ruleId);
  if (!open) return store();
  const data = { ...dataOf(open, containers), message, value: value ?? open.value };
  emit(deps, "alert.resolved", data, () => {
    updateAlertEventResolved(db, open.id, now().toISOString());
    store();
  });
}

export function sweepAlertEvents({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteAlertEventsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteAlertEventsBeyond(db, EVENTS_MAX);
}

const asView = (event: AlertEvent): AlertEventView => ({
  ...event,
  rule_name: event.ruleName,
  created_at: event.firedAt,
});

function dataOf(event: AlertEvent, containers?: readonly string[]): AlertData {
  const { id, ruleId, ruleName, metric, operator, threshold, value, message } = event;
  return {
    rule: ruleName,
    ruleId,
    alertId: id,
    metric,
    operator,
    threshold,
    value,
    message,
    ...(containers && { containers: containers.slice(0, NAMED_MAX) }),
  };
}

/** E.g. `: db, web and 3 more`. */
function nameList(containers: readonly string[] = []): string {
  if (containers.length === 0) return "";
  const more = containers.length - NAMED_IN_MESSAGE;
  const names = containers.slice(0, NAMED_IN_MESSAGE).join(", ");
  return `: ${names}${more > 0 ? ` and ${more} more` : ""}`;
}
