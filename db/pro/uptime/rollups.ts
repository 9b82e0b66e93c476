/**
 * The `uptime_rollups` table: the checks of a monitor added up by quarters and by hours.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** Seconds that a row describes. */
export const ROLLUP_RESOLUTIONS = [900, 3_600] as const;
export type RollupResolution = (typeof ROLLUP_RESOLUTIONS)[number];

/** The checks of one monitor in the `resolution` seconds from `ts` on. */
export interface UptimeRollup {
  monitorId: string;
  resolution: RollupResolution;
  /** Unix milliseconds. */
  ts: number;
  checks: number;
  /** Checks that succeeded: the next three are of these. */
  timed: number;
  responseMsSum: number;
  responseMsMax: number;
  /** How many response times lie in a bucket, by the bucket's number. */
  histogram: Record<string, number>;
}

const COLUMNS = `
  monitor_id AS monitorId, resolution, ts, checks, timed, response_ms_sum AS responseMsSum,
  response_ms_max AS responseMsMax, response_ms_hist AS histogram`;

type Row = Omit<UptimeRollup, "histogram"> & { histogram: string };

const fromRow = (row: Row): UptimeRollup => ({ ...row, histogram: JSON.parse(row.histogram) });

export function selectRollup(
  db: Database,
  key: Pick<UptimeRollup, "monitorId" | "resolution" | "ts">,
): UptimeRollup | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM uptime_rollups
     WHERE monitor_id = :monitorId AND resolution = :resolution AND ts = :ts`,
    key,
  );
  return row && fromRow(row);
}

/** Those that have a part after `from`, oldest first. */
export function selectRollups(
  db: Database,
  { monitorId, resolution, from }: Pick<UptimeRollup, "monitorId" | "resolution"> & {
    from: number;
  },
): UptimeRollup[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM uptime_rollups
     WHERE monitor_id = :monitorId AND resolution = :resolution AND ts > :after
     ORDER BY ts`,
    { monitorId, resolution, after: from - resolution * 1000 },
  ).map(fromRow);
}

export function upsertRollup(db: Database, { histogram, ...rollup }: UptimeRollup): void {
  db.run(
    `INSERT OR REPLACE INTO uptime_rollups
       (monitor_id, resolution, ts, checks, timed, response_ms_sum, response_ms_max,
        response_ms_hist)
     VALUES
       (:monitorId, :resolution, :ts, :checks, :timed, :responseMsSum, :responseMsMax,
        :histogram)`,
    { ...rollup, histogram: JSON.stringify(histogram) },
  );
}

/** Of one monitor. @returns How many went. */
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
