/**
 * The `uptime_latest` table: the last check of each monitor, restored after a restart.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** Times are Unix milliseconds. */
export interface LatestCheck {
  monitorId: string;
  checkedAt: number;
  /** When the next check was due: until then the state of the monitor counts as known. */
  knownUntil: number;
  /** `null` without a response. */
  responseTimeMs: number | null;
  /** Failed checks in a row, including this one. */
  failures: number;
  /** Time of the first of them; `null` after a successful check. */
  failingSince: number | null;
}

const latestChecks = table<LatestCheck>(
  "uptime_latest",
  {
    monitorId: "value",
    checkedAt: "value",
    knownUntil: "value",
    responseTimeMs: "value",
    failures: "value",
    failingSince: "value",
  },
  { key: "monitorId" },
);

export const {
  /** `undefined` for a monitor that was never checked. */
  find: selectLatestCheck,
  replace: upsertLatestCheck,
} = latestChecks;

export function selectLatestChecks(db: Database): LatestCheck[] {
  return latestChecks.select(db);
}

/** Resets the number of failed checks in a row. */
export function resetFailures(db: Database, monitorId: string): void {
  latestChecks.update(db, monitorId, { failures: 0, failingSince: null });
}
