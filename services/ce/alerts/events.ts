/**
 * Alert events: firings and their ends.
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

/** An event as lists and frames show it. Some clients read the names in snake case. */
export interface AlertEventView extends AlertEvent {
  rule_name: string;
  /** Same as `firedAt`. */
  created_at: string;
}

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Most resolved events that are kept. */
const EVENTS_MAX = 10_000;

/** Events that the stream shows besides what fires. */
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

/** What fires, and the last events; newest first. */
export function alertOverview(
  { db }: Pick<Deps, "db">,
): { firing: AlertEventView[]; recent: AlertEventView[] } {
  return {
    firing: selectOpenAlertEvents(db).map(asView),
    recent: selectAlertEvents(db, { limit: RECENT_MAX, offset: 0 }).map(asView),
  };
}

/** Names the state that `alertOverview()` shows. */
export function alertVersion({ db }: Pick<Deps, "db">): string {
  return selectAlertEventsVersion(db);
}

/** What a rule's metric was when its state changed. */
export interface AlertReading {
  value: number;
  /** Names of the containers that the value counts. */
  containers?: readonly string[] | undefined;
}

/** Most containers that an event names, and most that a message names. */
const NAMED_MAX = 100;
const NAMED_IN_MESSAGE = 10;

/** A rule begins to fire. */
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
      named(containers),
    firedAt: progress.lastFiredAt ?? deps.now().toISOString(),
    resolvedAt: null,
  };
  emit(deps, "alert.fired", dataOf(event, containers), () => {
    insertAlertEvent(deps.db, event);
    updateAlertProgress(deps.db, ruleId, progress);
  });
}

/** The condition of a rule that fires has ended. */
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
 * Resolves what a rule has open, if anything.
 *
 * @param value Now; default: that of the firing.
 * @param store Writes the cause, in the same transaction.
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
function named(containers: readonly string[] = []): string {
  if (containers.length === 0) return "";
  const more = containers.length - NAMED_IN_MESSAGE;
  const names = containers.slice(0, NAMED_IN_MESSAGE).join(", ");
  return `: ${names}${more > 0 ? ` and ${more} more` : ""}`;
}
