/** The `uptime_latest` table: the last check of each monitor, restored after a restart. @module */

import { number, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

const latestChecks = table(
  "uptime_latest",
  {
    monitorId: text(),
    checkedAt: number(),
    /** When the next check was due: until then the state of the monitor counts as known. */
    knownUntil: number(),
    /** `null` without a response. */
    responseTimeMs: number<number | null>(),
    /** Failed checks in a row, including this one. */
    failures: number(),
    /** Time of the first of them; `null` after a successful check. */
    failingSince: number<number | null>(),
  },
  { key: "monitorId" },
);

/** Times are Unix milliseconds. */
export type LatestCheck = Row<typeof latestChecks>;

export const {
  /** `undefined` for a monitor that was never checked. */
  find: selectLatestCheck,
  all: selectLatestChecks,
  replace: upsertLatestCheck,
} = latestChecks;

/** The last checks of these monitors. */
export function selectLatestChecksOf(
  db: Database,
  monitorIds: readonly string[],
): LatestCheck[] {
  return latestChecks.select(db, "WHERE monitor_id IN (SELECT value FROM json_each(:ids))", {
    ids: JSON.stringify(monitorIds),
  });
}

/** Resets the number of failed checks in a row. */
export function resetFailures(db: Database, monitorId: string): void {
  latestChecks.update(db, monitorId, { failures: 0, failingSince: null });
}
