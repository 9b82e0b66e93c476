/**
 * The `remediation_runs` table: what rules did, and to what end.
 *
 * @module
 */

import type { Database } from "../database.ts";
import type { RemediationAction } from "./remediation_rules.ts";

export const REMEDIATION_STATUSES = ["success", "failure", "skipped"] as const;
export type RemediationStatus = (typeof REMEDIATION_STATUSES)[number];

/** A run that has begun. Times are ISO 8601, UTC. */
export interface BegunRemediation {
  id: string;
  rule_id: string;
  rule_name: string;
  /** Of the condition, when the rule fired; `null` where it turned itself off instead. */
  metric_value: number | null;
  action_type: RemediationAction;
  action_target: string;
  started_at: string;
}

/** A run that has come to its end. */
export interface RemediationRun extends BegunRemediation {
  status: RemediationStatus;
  /** Why it failed or was skipped. */
  error: string | null;
  finished_at: string;
}

const BEGUN_COLUMNS =
  "id, rule_id, rule_name, metric_value, action_type, action_target, started_at";

/** Finished runs, newest first. */
export function selectRemediationRuns(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): RemediationRun[] {
  // Of the same millisecond, the one that was written later is the newer one.
  return db.all<RemediationRun>(
    `SELECT ${BEGUN_COLUMNS}, status, error, finished_at
     FROM remediation_runs WHERE finished_at IS NOT NULL
     ORDER BY started_at DESC, rowid DESC LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

/** Number of finished runs. */
export function countRemediationRuns(db: Database): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM remediation_runs WHERE finished_at IS NOT NULL",
  )!.n;
}

export function selectUnfinishedRemediations(db: Database): BegunRemediation[] {
  return db.all<BegunRemediation>(
    `SELECT ${BEGUN_COLUMNS} FROM remediation_runs WHERE finished_at IS NULL ORDER BY started_at`,
  );
}

export function insertRemediationRun(
  db: Database,
  run: BegunRemediation & Partial<RemediationRun>,
): void {
  db.run(
    `INSERT INTO remediation_runs (${BEGUN_COLUMNS}, status, error, finished_at)
     VALUES (:id, :rule_id, :rule_name, :metric_value, :action_type, :action_target, :started_at,
       :status, :error, :finished_at)`,
    { status: null, error: null, finished_at: null, ...run },
  );
}

export function updateRemediationEnd(
  db: Database,
  { id, status, error, finished_at }: Pick<
    RemediationRun,
    "id" | "status" | "error" | "finished_at"
  >,
): void {
  db.run(
    `UPDATE remediation_runs SET status = :status, error = :error, finished_at = :finished_at
     WHERE id = :id`,
    { id, status, error, finished_at },
  );
}

/** Deletes runs that began before `at`. @returns How many went. */
export function deleteRemediationRunsBefore(db: Database, at: string): number {
  return db.run(
    "DELETE FROM remediation_runs WHERE started_at < :at AND finished_at IS NOT NULL",
    { at },
  );
}

/** Deletes all but the newest runs of each rule. @returns How many went. */
export function deleteRemediationRunsBeyond(db: Database, keep: number): number {
  return db.run(
    `DELETE FROM remediation_runs WHERE finished_at IS NOT NULL AND id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER (PARTITION BY rule_id ORDER BY started_at DESC) AS place
         FROM remediation_runs
       ) WHERE place > :keep
     )`,
    { keep },
  );
}
