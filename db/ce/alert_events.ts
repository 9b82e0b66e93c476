/**
 * The `alert_events` table: when which rule fired, and until when.
 *
 * @module
 */

import type { Database } from "../database.ts";
import type { AlertMetric, AlertOperator } from "./alert_rules.ts";

/** One firing of a rule, with the rule as it was then. Times are ISO 8601, UTC. */
export interface AlertEvent {
  id: string;
  ruleId: string;
  ruleName: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  /** At the firing. */
  value: number;
  message: string;
  firedAt: string;
  /** `null` while it fires. */
  resolvedAt: string | null;
}

const COLUMNS = `
  id, rule_id AS ruleId, rule_name AS ruleName, metric, operator, threshold, value, message,
  fired_at AS firedAt, resolved_at AS resolvedAt`;

/** Newest first. */
export function selectAlertEvents(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): AlertEvent[] {
  return db.all<AlertEvent>(
    `SELECT ${COLUMNS} FROM alert_events
     ORDER BY fired_at DESC, id LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

export function selectAlertEvent(db: Database, id: string): AlertEvent | undefined {
  return db.get<AlertEvent>(`SELECT ${COLUMNS} FROM alert_events WHERE id = :id`, { id });
}

/** Those that fire now, newest first. */
export function selectOpenAlertEvents(db: Database): AlertEvent[] {
  return db.all<AlertEvent>(
    `SELECT ${COLUMNS} FROM alert_events WHERE resolved_at IS NULL ORDER BY fired_at DESC, id`,
  );
}

/** The one of a rule that fires now, or `undefined`. */
export function selectOpenAlertEvent(db: Database, ruleId: string): AlertEvent | undefined {
  return db.get<AlertEvent>(
    `SELECT ${COLUMNS} FROM alert_events WHERE rule_id = :ruleId AND resolved_at IS NULL`,
    { ruleId },
  );
}

export function countAlertEvents(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM alert_events")!.n;
}

/** Differs after every change: rows are only added, resolved once, and deleted. */
export function selectAlertEventsVersion(db: Database): string {
  const { total, last, open } = db.get<{ total: number; last: number | null; open: number }>(
    `SELECT count(*) AS total, max(rowid) AS last,
            (SELECT count(*) FROM alert_events WHERE resolved_at IS NULL) AS open
     FROM alert_events`,
  )!;
  return `${total}.${last}.${open}`;
}

export function insertAlertEvent(db: Database, event: AlertEvent): void {
  db.run(
    `INSERT INTO alert_events (id, rule_id, rule_name, metric, operator, threshold, value,
       message, fired_at, resolved_at)
     VALUES (:id, :ruleId, :ruleName, :metric, :operator, :threshold, :value,
       :message, :firedAt, :resolvedAt)`,
    { ...event },
  );
}

export function updateAlertEventResolved(db: Database, id: string, resolvedAt: string): void {
  db.run("UPDATE alert_events SET resolved_at = :resolvedAt WHERE id = :id", { id, resolvedAt });
}

/** Deletes what was fired before `at` and is resolved. @returns How many went. */
export function deleteAlertEventsBefore(db: Database, at: string): number {
  return db.run(
    "DELETE FROM alert_events WHERE fired_at < :at AND resolved_at IS NOT NULL",
    { at },
  );
}

/** Deletes all resolved ones but the newest. @returns How many went. */
export function deleteAlertEventsBeyond(db: Database, keep: number): number {
  return db.run(
    `DELETE FROM alert_events WHERE resolved_at IS NOT NULL AND id IN (
       SELECT id FROM alert_events ORDER BY fired_at DESC, id LIMIT -1 OFFSET :keep
     )`,
    { keep },
  );
}
