/** The `alert_events` table: when each rule fired and was resolved. @module */

import { number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { AlertOperator } from "./alert_rules.ts";
import type { Severity } from "./notification_channels.ts";

const events = table("alert_events", {
  id: text(),
  ruleId: text(),
  ruleName: text(),
  metric: text(),
  operator: text<AlertOperator>(),
  threshold: number(),
  /** The value that fired the rule. */
  value: number(),
  message: text(),
  severity: text<Severity>(),
  /** The name of the container; `null` for the host. */
  container: text<string | null>(),
  /** The stack of the container. */
  stack: text<string | null>(),
  firedAt: text(),
  /** `null` while the rule is firing. */
  resolvedAt: text<string | null>(),
  /** `null` until a user acknowledges it. */
  acknowledgedAt: text<string | null>(),
  /** Email or name of the user. */
  acknowledgedBy: text<string | null>(),
  /** Of the acknowledgement. */
  comment: text<string | null>(),
}, { order: "fired_at DESC, id" });

/** One alert, with the rule as it was when it fired. Times are ISO 8601, UTC. */
export type AlertEvent = Row<typeof events>;

/** A user's acknowledgement of an alert, with a comment. */
type AlertAcknowledgement = Pick<
  AlertEvent,
  "acknowledgedAt" | "acknowledgedBy" | "comment"
>;

export const {
  find: selectAlertEvent,
  count: countAlertEvents,
  insert: insertAlertEvent,
  /** Newest first. */
  page: selectAlertEvents,
} = events;

/** The unresolved events, newest first. */
export function selectOpenAlertEvents(db: Database): AlertEvent[] {
  return events.select(db, "WHERE resolved_at IS NULL ORDER BY fired_at DESC, id");
}

/** The unresolved events of a rule, oldest first. */
export function selectOpenAlertEventsOf(db: Database, ruleId: string): AlertEvent[] {
  return events.select(
    db,
    "WHERE rule_id = :ruleId AND resolved_at IS NULL ORDER BY fired_at, id",
    { ruleId },
  );
}

/** Differs after every change: rows are added, acknowledged, renamed, resolved once, and deleted. */
export function selectAlertEventsVersion(db: Database): string {
  const { total, last, open, containers, acknowledged } = db.get<
    {
      total: number;
      last: number | null;
      open: number;
      containers: string | null;
      acknowledged: string | null;
    }
  >(
    `SELECT count(*) AS total, max(rowid) AS last, max(acknowledged_at) AS acknowledged,
            open, containers
     FROM alert_events, (
       SELECT count(*) AS open, group_concat(container) AS containers
       FROM alert_events WHERE resolved_at IS NULL
     )`,
  )!;
  return `${total}.${last}.${open}.${acknowledged}.${containers}`;
}

export function updateAlertEventResolved(db: Database, id: string, resolvedAt: string): void {
  events.update(db, id, { resolvedAt });
}

export function updateAlertEventAcknowledged(
  db: Database,
  id: string,
  { acknowledgedAt, acknowledgedBy, comment }: AlertAcknowledgement,
): void {
  events.update(db, id, { acknowledgedAt, acknowledgedBy, comment });
}

/** Deletes resolved events that fired before `at`. @returns How many were deleted. */
export function deleteAlertEventsBefore(db: Database, at: string): number {
  return db.run(
    "DELETE FROM alert_events WHERE fired_at < :at AND resolved_at IS NOT NULL",
    { at },
  );
}

/** Deletes the resolved events beyond the newest `keep` events. @returns How many were deleted. */
export function deleteAlertEventsBeyond(db: Database, keep: number): number {
  return db.run(
    `DELETE FROM alert_events WHERE resolved_at IS NOT NULL AND id IN (
       SELECT id FROM alert_events ORDER BY fired_at DESC, id LIMIT -1 OFFSET :keep
     )`,
    { keep },
  );
}
