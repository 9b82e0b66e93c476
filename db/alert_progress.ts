/**
 * The `alert_progress` table: the state of each alert rule, for each container that it watches.
 *
 * @module
 */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

export const ALERT_STATES = ["ok", "pending", "firing", "no_data"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

const progress = table("alert_progress", {
  ruleId: text(),
  /** The name of a container; empty for the rule as a whole. */
  container: text(),
  state: text<AlertState>(),
  /** Since when the condition has held, while `state` is pending. */
  pendingSince: text<string | null>(),
  /**
   * When the condition was last seen to hold, while `state` is pending; may lag a little. `null` in the
   * database while it is evaluated: the time of the last round is stored once for all.
   */
  seenAt: text<string | null>(),
  lastFiredAt: text<string | null>(),
  /** The unresolved event. Its data may be missing by now. */
  alertId: text<string | null>(),
});

/** The state of a rule for one container. Times are ISO 8601, UTC. */
export type StoredAlertProgress = Row<typeof progress>;

export type AlertProgress = Omit<StoredAlertProgress, "ruleId" | "container">;

export const { replace: replaceAlertProgress } = progress;

/** The progress of all rules, or of one. */
export function selectAlertProgress(db: Database, ruleId?: string): StoredAlertProgress[] {
  return ruleId === undefined
    ? progress.select(db)
    : progress.select(db, "WHERE rule_id = :ruleId", { ruleId });
}

/**
 * Moves the progress of a container to its new name, and its alerts with it. The progress of an
 * earlier container of that name is forgotten; it must have no open alerts.
 */
export function renameAlertProgress(db: Database, names: { from: string; to: string }): void {
  db.run("UPDATE OR REPLACE alert_progress SET container = :to WHERE container = :from", names);
  db.run(
    `UPDATE OR IGNORE alert_events SET container = :to
     WHERE container = :from AND resolved_at IS NULL
       AND id IN (SELECT alert_id FROM alert_progress WHERE container = :to)`,
    names,
  );
}

/** Resets a rule. When it last fired stays, because its cooldown continues. */
export function resetAlertProgress(db: Database, ruleId: string): void {
  db.run(
    `UPDATE alert_progress
     SET state = 'ok', pending_since = NULL, seen_at = NULL, alert_id = NULL
     WHERE rule_id = :ruleId`,
    { ruleId },
  );
}

export function deleteAlertProgress(db: Database, ruleId: string): void {
  db.run("DELETE FROM alert_progress WHERE rule_id = :ruleId", { ruleId });
}

/** Forgets the containers that have been well since a time. @returns How many were deleted. */
export function deleteAlertProgressBefore(db: Database, at: string): number {
  return db.run(
    `DELETE FROM alert_progress
     WHERE state = 'ok' AND container <> '' AND coalesce(last_fired_at, '') < :at`,
    { at },
  );
}
