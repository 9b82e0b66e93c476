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
  selectAlertEvents,
  selectAlertEventsVersion,
  selectOpenAlertEvent,
  selectOpenAlertEvents,
  updateAlertEventResolved,
} from "../../db/ce/alert_events.ts";
import {
  type AlertProgress,
  type AlertRule,
  updateAlertProgress,
} from "../../db/ce/alert_rules.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../emit.ts";
import type { AlertData } from "../events.ts";

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

/** A rule begins to fire. */
export function fireAlert(
  deps: EmitDeps,
  rule: AlertRule,
  progress: AlertProgress,
  value: number,
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
    message: `${ruleName}: ${metric} is ${value} (${operator} ${threshold}${lasted})`,
    firedAt: progress.lastFiredAt ?? deps.now().toISOString(),
    resolvedAt: null,
  };
  emit(deps, "alert.fired", dataOf(event), () => {
    insertAlertEvent(deps.db, event);
    updateAlertProgress(deps.db, ruleId, progress);
  });
}

/** The condition of a rule that fires has ended. */
export function resolveAlert(
  deps: EmitDeps,
  rule: AlertRule,
  progress: AlertProgress,
  value: number,
): void {
  const { name, metric, operator, threshold } = rule;
  endAlert(deps, rule.id, {
    message: `${name}: ${metric} is ${value} (no longer ${operator} ${threshold})`,
    value,
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
  { message, value, store }: { message: string; value?: number; store: () => void },
): void {
  const { db, now } = deps;
  const open = selectOpenAlertEvent(db, ruleId);
  if (!open) return store();
  const data = { ...dataOf(open), message, value: value ?? open.value };
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

function dataOf(event: AlertEvent): AlertData {
  const { id, ruleId, ruleName, metric, operator, threshold, value, message } = event;
  return { rule: ruleName, ruleId, alertId: id, metric, operator, threshold, value, message };
}
