/**
 * The `uptime_rollups` table: totals of the checks of a monitor per quarter hour and hour.
 *
 * @module
 */

import { json, number, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** Seconds that a row describes. */
export const ROLLUP_RESOLUTIONS = [900, 3_600] as const;
export type RollupResolution = (typeof ROLLUP_RESOLUTIONS)[number];

const rollups = table(
  "uptime_rollups",
  {
    monitorId: text(),
    resolution: number<RollupResolution>(),
    /** Unix milliseconds. */
    ts: number(),
    checks: number(),
    /** Successful checks; the next three fields cover only these. */
    timed: number(),
    responseMsSum: number(),
    responseMsMax: number(),
    /** Number of response times per bucket, by the bucket's number. */
    histogram: json<Record<string, number>>(),
  },
  { names: { histogram: "response_ms_hist" } },
);

/** Totals of the checks of one monitor in the `resolution` seconds from `ts` on. */
type UptimeRollup = Row<typeof rollups>;

export const { replace: upsertRollup } = rollups;

export function selectRollup(
  db: Database,
  key: Pick<UptimeRollup, "monitorId" | "resolution" | "ts">,
): UptimeRollup | undefined {
  return rollups.selectOne(
    db,
    "WHERE monitor_id = :monitorId AND resolution = :resolution AND ts = :ts",
    key,
  );
}

/** Roll-ups that end after `from`, oldest first. */
export function selectRollups(
  db: Database,
  { monitorId, resolution, from }: Pick<UptimeRollup, "monitorId" | "resolution"> & {
    from: number;
  },
): UptimeRollup[] {
  return rollups.select(
    db,
    "WHERE monitor_id = :monitorId AND resolution = :resolution AND ts > :after ORDER BY ts",
    { monitorId, resolution, after: from - resolution * 1000 },
  );
}

/** @returns How many were deleted. */
export function deleteRollupsBefore(
  db: Database,
  { monitorId, resolution, before }: {
    monitorId: string;
    resolution: RollupResolution;
    before: number;
  },
): number {
  return db.run(
    `DELETE FROM uptime_rollups
     WHERE monitor_id = :monitorId AND resolution = :resolution AND ts < :before`,
    { monitorId, resolution, before },
  );
}
