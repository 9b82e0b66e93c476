/** Alert events: when rules fired and when they resolved. @module */

import {
  type AlertEvent,
  countAlertEvents,
  deleteAlertEventsBefore,
  deleteAlertEventsBeyond,
  insertAlertEvent,
  selectAlertEvent,
  selectAlertEvents,
  selectAlertEventsVersion,
  selectOpenAlertEvents,
  selectOpenAlertEventsOf,
  updateAlertEventAcknowledged,
  updateAlertEventResolved,
} from "../../db/alert_events.ts";
import {
  type AlertProgress,
  deleteAlertProgressBefore,
  replaceAlertProgress,
} from "../../db/alert_progress.ts";
import type { AlertRule } from "../../db/alert_rules.ts";
import { selectUser } from "../../db/users.ts";
import type { Page, Paged } from "../../db/page.ts";
import type { Caller } from "../access/caller.ts";
import { stackOf } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { AppError, requireFound } from "../errors.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import type { AlertData } from "../events/kinds/alerts.ts";
import type { AppEvent } from "../events/events.ts";
import type { Pause } from "../events/recorder.ts";
import type { Container } from "../containers/inventory.ts";
import { round2 } from "../metrics/window.ts";
import { currentPause, type SilencerDeps } from "./silences/silencer.ts";
import { INITIAL_PROGRESS } from "./condition.ts";
import { alertMetric } from "./metrics/mod.ts";
import {
  firedText,
  measuredText,
  missingDataText,
  resolvedText,
  type ValueSubject,
} from "./text.ts";

/** An event in lists and stream frames, with snake case aliases that some clients read. */
export interface AlertEventView extends AlertEvent {
  rule_name: string;
  /** Same as `firedAt`. */
  created_at: string;
  /** The value with its unit. */
  valueText: string;
}

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Limit of stored resolved events. */
const EVENTS_MAX = 10_000;

/** Number of recent events in stream frames. */
const RECENT_MAX = 20;

/** Newest first. */
export function listAlertEvents(
  { db }: Pick<Deps, "db">,
  page: Page,
): { events: AlertEventView[] } & Paged {
  return { events: selectAlertEvents(db, page).map(toView), total: countAlertEvents(db), ...page };
}

/** @throws {AppError} `not_found`. */
export function getAlertEvent({ db }: Pick<Deps, "db">, id: string): AlertEventView {
  return toView(requireFound(selectAlertEvent(db, id), "Alert event", id));
}

/** Firing and recent events, newest first. */
export function alertOverview(
  { db }: Pick<Deps, "db">,
): { firing: AlertEventView[]; recent: AlertEventView[] } {
  return {
    firing: selectOpenAlertEvents(db).map(toView),
    recent: selectAlertEvents(db, { limit: RECENT_MAX, offset: 0 }).map(toView),
  };
}

/** Changes whenever the result of `alertOverview()` changes. */
export function alertVersion({ db }: Pick<Deps, "db">): string {
  return selectAlertEventsVersion(db);
}

/** Subject of a value. */
export interface AlertSubject extends ValueSubject {
  /** Missing for one that was removed. */
  container?: Container | undefined;
  /** Whether the name is that of a stack. */
  isStack?: true;
}

/** Limit of container names in an event. */
const NAMED_MAX = 100;

/** Stores and emits `alert.fired`. @returns The id of the event. */
export function fireAlert(
  deps: EmitDeps,
  rule: AlertRule,
  progress: AlertProgress,
  subject: AlertSubject & { value: number },
): string {
  const { id: ruleId, name: ruleName, metric, operator, threshold } = rule;
  const { name = "", container, containers, isStack = false } = subject;
  const value = round2(subject.value);
  const event: AlertEvent = {
    id: crypto.randomUUID(),
    ruleId,
    ruleName,
    metric,
    operator,
    threshold,
    value,
    message: firedText(rule, { ...subject, value }),
    severity: rule.severity,
    container: isStack ? null : name || null,
    stack: isStack ? name : container ? stackOf(container) : null,
    firedAt: progress.lastFiredAt ?? deps.now().toISOString(),
    resolvedAt: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    comment: null,
  };
  emit(deps, "alert.fired", toData(event, containers), () => {
    insertAlertEvent(deps.db, event);
    replaceAlertProgress(deps.db, {
      ...progress,
      ruleId,
      container: name,
      alertId: event.id,
    });
  });
  return event.id;
}

/**
 * Resolves the open event of a rule because its condition does not hold any more.
 *
 * @param subject.reason Why it has no value any more.
 */
export function resolveAlert(
  deps: EmitDeps,
  rule: AlertRule,
  { before, after }: { before: AlertProgress; after: AlertProgress },
  subject: AlertSubject & ({ value: number } | { reason: string }),
): void {
  const { db } = deps;
  const { name = "", containers } = subject;
  const store = () => replaceAlertProgress(db, { ...after, ruleId: rule.id, container: name });
  const open = before.alertId === null ? undefined : selectAlertEvent(db, before.alertId);
  if (!open || open.resolvedAt !== null) return db.transaction(store);
  const value = "value" in subject ? round2(subject.value) : open.value;
  const message = "value" in subject ? resolvedText(rule, { ...subject, value }) : subject.reason;
  endAlert(deps, open, { message, value, containers, store });
}

/**
 * Resolves the open events of a rule that was changed, disabled or deleted. Each of them is resolved
 * with its progress, so that a crash leaves none open for good.
 */
export function endRuleAlerts(deps: EmitDeps, ruleId: string, message: string): void {
  for (const open of selectOpenAlertEventsOf(deps.db, ruleId)) closeAlert(deps, open, message);
}

/** Resolves the open events about a container that was removed. */
export function endAlertsAbout(deps: EmitDeps, container: string): void {
  for (const open of selectOpenAlertEvents(deps.db)) {
    if (open.container !== container) continue;
    closeAlert(deps, open, `${container} was removed`);
  }
}

function closeAlert(deps: EmitDeps, open: AlertEvent, message: string): void {
  const { firedAt: lastFiredAt, ruleId, value } = open;
  const progress = { ...INITIAL_PROGRESS, ruleId, container: subjectName(open), lastFiredAt };
  endAlert(deps, open, { message, value, store: () => replaceAlertProgress(deps.db, progress) });
}

/** Name of the progress of an event: the container or stack; empty for the host. */
const subjectName = ({ metric, container, stack }: AlertEvent): string =>
  (alertMetric(metric).target === "stacks" ? stack : container) ?? "";

/** Emits `alert.no_data`, once for each time that data is missing. */
export function reportMissingData(
  deps: EmitDeps,
  rule: AlertRule,
  progress: AlertProgress,
  { name = "", container, isStack, reason }: AlertSubject & { reason: string },
): void {
  const { id: ruleId, name: ruleName, metric, severity } = rule;
  const data = {
    rule: ruleName,
    ruleId,
    metric,
    severity,
    message: missingDataText(rule, { name, reason }),
    ...(name && (isStack ? { stack: name } : { container: name })),
    ...(container && stackOf(container) !== null && { stack: stackOf(container)! }),
  };
  emit(
    deps,
    "alert.no_data",
    data,
    () => replaceAlertProgress(deps.db, { ...progress, ruleId, container: name }),
  );
}

/**
 * Records that a user takes care of an alert. A later acknowledgement replaces the earlier one.
 *
 * @throws {AppError} `not_found`; `conflict` for an alert that is resolved.
 */
export function acknowledgeAlert(
  deps: Pick<Deps, "db" | "now">,
  id: string,
  comment: string | null,
  { userId }: Pick<Caller, "userId">,
): AlertEventView {
  const { db, now } = deps;
  const { resolvedAt } = getAlertEvent(deps, id);
  if (resolvedAt !== null) throw new AppError("conflict", `Alert event ${id} is already resolved`);
  updateAlertEventAcknowledged(db, id, {
    acknowledgedAt: now().toISOString(),
    acknowledgedBy: selectUser(db, userId)?.email ?? userId,
    comment,
  });
  return getAlertEvent(deps, id);
}

/** The events that are not resolved, newest first. */
export function listActiveAlerts(
  deps: SilencerDeps,
): (AlertEventView & { inhibitedBy: Pause | null })[] {
  return selectOpenAlertEvents(deps.db).map((event) => ({
    ...toView(event),
    inhibitedBy: findInhibition(deps, event),
  }));
}

/** Why no messages are sent about an alert at the moment; `null` if they are. */
export function findInhibition(
  deps: SilencerDeps,
  { ruleId, ruleName, severity, container }: Pick<
    AlertEvent,
    "ruleId" | "ruleName" | "severity" | "container"
  >,
): Pause | null {
  const data = { rule: ruleName, ruleId, severity, ...(container !== null && { container }) };
  return currentPause(deps, { event: "alert.fired", data } as AppEvent) ?? null;
}

export function sweepAlertEvents({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteAlertEventsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteAlertEventsBeyond(db, EVENTS_MAX);
  deleteAlertProgressBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
}

/** Resolves an event and emits `alert.resolved`. @param change.store Also stores the cause. */
function endAlert(
  deps: EmitDeps,
  open: AlertEvent,
  { message, value, containers, store }: Pick<AlertSubject, "containers"> & {
    message: string;
    value: number;
    store: () => void;
  },
): void {
  const data = { ...toData(open, containers), message, value };
  emit(deps, "alert.resolved", data, () => {
    updateAlertEventResolved(deps.db, open.id, deps.now().toISOString());
    store();
  });
}

const toView = (event: AlertEvent): AlertEventView => ({
  ...event,
  valueText: measuredText(alertMetric(event.metric), event.value),
  rule_name: event.ruleName,
  created_at: event.firedAt,
});

function toData(event: AlertEvent, containers?: readonly string[]): AlertData {
  const { id, ruleId, ruleName, metric, operator, threshold, value, message } = event;
  const { container, severity, stack } = event;
  const { stateOf } = alertMetric(metric);
  return {
    rule: ruleName,
    ruleId,
    alertId: id,
    metric,
    operator,
    threshold,
    value,
    message,
    severity,
    ...(container !== null && { container }),
    ...(stack !== null && { stack }),
    ...(containers && { containers: containers.slice(0, NAMED_MAX) }),
    ...(stateOf && { stateOf }),
  };
}
