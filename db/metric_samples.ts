/**
 * The `metric_samples` table: CPU, memory, disk, load and container counts of the host, in three
 * resolutions.
 *
 * @module
 */

import type { Database } from "./database.ts";
import { aggregates, rollUpColumns, sampleColumns } from "./series_columns.ts";

/** Seconds that a row describes: a sample, and its two roll-ups. */
export const RESOLUTIONS = [15, 60, 900] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** The figures of a host, each with its column and the weight of its averages. */
const SERIES = {
  cpuPercent: { column: "cpu_percent", weight: "samples" },
  memoryPercent: { column: "memory_percent", weight: "samples" },
  diskPercent: { column: "disk_percent", weight: "samples" },
  load1: { column: "load_1", weight: "samples" },
  containersRunning: { column: "containers_running", weight: "engine_samples" },
  containersTotal: { column: "containers_total", weight: "engine_samples" },
} as const;

export type SeriesName = keyof typeof SERIES;

/** Known only while the engine is reachable. */
type EngineSeriesName = "containersRunning" | "containersTotal";
export const SERIES_NAMES = Object.keys(SERIES) as SeriesName[];

/** The figures of a host; those of the engine are `null` while it is unreachable. */
export type Figures =
  & Record<Exclude<SeriesName, EngineSeriesName>, number>
  & Record<EngineSeriesName, number | null>;

/** The figures of a host at one moment. */
type MetricSample = Figures & {
  hostId: string;
  /** Unix seconds; a multiple of 15. */
  ts: number;
};

/** Several samples together: mean, minimum and maximum of each figure, e.g. `cpuPercentMax`. */
export type MetricPoint =
  & {
    /** Unix seconds. */
    ts: number;
    samples: number;
    /** Samples taken while the engine was reachable. */
    engineSamples: number;
  }
  & Figures
  & { [Name in `${SeriesName}Min` | `${SeriesName}Max`]: number | null };

const { columns, parameters } = sampleColumns(SERIES);

const INSERT_SAMPLE = `
  INSERT OR REPLACE INTO metric_samples
    (host_id, resolution, ts, samples, engine_samples, ${columns})
  VALUES (:hostId, ${RESOLUTIONS[0]}, :ts, 1, :engineSamples, ${parameters})`;

const ROLL_UP = `
  INSERT OR REPLACE INTO metric_samples
    (host_id, resolution, ts, samples, engine_samples, ${rollUpColumns(SERIES)})
  SELECT host_id, :into, :begin, sum(samples), sum(engine_samples), ${aggregates(SERIES)}
  FROM metric_samples
  WHERE host_id = :hostId AND resolution = :of AND ts >= :begin AND ts < :end
  GROUP BY host_id`;

const SELECT_HISTORY = `
  SELECT ts - ts % :step AS ts, sum(samples) AS samples, sum(engine_samples) AS engineSamples,
         ${aggregates(SERIES)}
  FROM metric_samples
  WHERE host_id = :hostId AND resolution = :resolution AND ts >= :from AND ts <= :to
  GROUP BY 1 ORDER BY 1`;

/** Stores a sample; one of the same time is replaced (the clock was set back). */
export function insertMetricSample(db: Database, sample: MetricSample): void {
  db.run(INSERT_SAMPLE, { ...sample, engineSamples: sample.containersTotal === null ? 0 : 1 });
}

/**
 * Computes the roll-up that contains `ts` from the rows of the next finer resolution. It is
 * recomputed from all of them each time, so that repeating it counts no sample twice.
 */
export function rollUpMetricSamples(
  db: Database,
  { hostId, ts, of, into }: { hostId: string; ts: number; of: Resolution; into: Resolution },
): void {
  const begin = ts - ts % into;
  db.run(ROLL_UP, { hostId, of, into, begin, end: begin + into });
}

/**
 * The rows of a resolution between two times, both included, oldest first, aggregated to points of
 * `step` seconds. A step without rows has no point.
 */
export function selectMetricHistory(
  db: Database,
  range: { hostId: string; resolution: Resolution; step: number; from: number; to: number },
): MetricPoint[] {
  return db.all<MetricPoint>(SELECT_HISTORY, range);
}

/**
 * Deletes the oldest rows of a resolution that are before a time.
 *
 * @param range.rowsMax How many to delete at most.
 * @returns How many were deleted.
 */
export function deleteMetricSamplesBefore(
  db: Database,
  { hostId, resolution, before, rowsMax }: {
    hostId: string;
    resolution: Resolution;
    before: number;
    rowsMax: number;
  },
): number {
  const oldest = db.get<{ ts: number | null }>(
    "SELECT min(ts) AS ts FROM metric_samples WHERE host_id = :hostId AND resolution = :resolution",
    { hostId, resolution },
  )?.ts ?? before;
  if (oldest >= before) return 0;
  return db.run(
    `DELETE FROM metric_samples
     WHERE host_id = :hostId AND resolution = :resolution AND ts < :before`,
    { hostId, resolution, before: Math.min(before, oldest + rowsMax * resolution) },
  );
}
