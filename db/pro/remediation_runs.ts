/** The `remediation_runs` table: runs of remediation rules and their results. @module */

import { number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import { runRetention } from "../run_retention.ts";
import type { Page } from "../page.ts";
import type { RemediationAction } from "./remediation_rules.ts";

export const REMEDIATION_STATUSES = ["success", "failure", "skipped"] as const;
type RemediationStatus = (typeof REMEDIATION_STATUSES)[number];

const started = {
  id: text(),
  rule_id: text(),
  rule_name: text(),
  /** The value that fired the rule; `null` when the rule was disabled instead. */
  metric_value: number<number | null>(),
  action_type: text<RemediationAction>(),
  action_target: text(),
  started_at: text(),
};

const startedRuns = table("remediation_runs", started);

/** A run that has started. Times are ISO 8601, UTC. */
export type StartedRemediation = Row<typeof startedRuns>;

const runs = table("remediation_runs", {
  ...started,
  status: text<RemediationStatus>(),
  /** Why it failed or was skipped. */
  error: text<string | null>(),
  finished_at: text(),
  // The row id orders runs of the same millisecond.
}, { order: "started_at DESC, rowid DESC" });

/** A run that has finished. */
export type RemediationRun = Row<typeof runs>;

/** Finished runs, newest first. */
export function selectRemediationRuns(db: Database, page: Page): RemediationRun[] {
  return runs.page(db, page, "WHERE finished_at IS NOT NULL");
}

/** Number of finished runs. */
export function countRemediationRuns(db: Database): number {
  return runs.countWhere(db, "WHERE finished_at IS NOT NULL");
}

export function selectUnfinishedRemediations(db: Database): StartedRemediation[] {
  return startedRuns.select(db, "WHERE finished_at IS NULL ORDER BY started_at");
}

export function insertRemediationRun(
  db: Database,
  run: StartedRemediation & Partial<RemediationRun>,
): void {
  runs.insertFields(db, run);
}

export function updateRemediationEnd(
  db: Database,
  { id, status, error, finished_at }: Pick<
    RemediationRun,
    "id" | "status" | "error" | "finished_at"
  >,
): void {
  runs.update(db, id, { status, error, finished_at });
}

export const {
  deleteBefore: deleteRemediationRunsBefore,
  deleteBeyond: deleteRemediationRunsBeyond,
} = runRetention("remediation_runs", { owner: "rule_id", time: "started_at" });
