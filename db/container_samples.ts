/**
 * The `container_series` and `container_samples` tables: CPU, memory, network and disk use of
 * containers, in the resolutions of `metric_samples`.
 *
 * @module
 */

import type { Database } from "./database.ts";
import { type Resolution, RESOLUTIONS } from "./metric_samples.ts";
import { aggregates, rollUpColumns, sampleColumns } from "./series_columns.ts";

/** A rate is unknown in the first sample of a run. */
const ofRate = (column: string) => ({ column, weight: `iif(${column} IS NULL, 0, samples)` });

/** The figures of a container, each with its column and the weight of its averages. */
const SERIES = {
  cpuPercent: { column: "cpu_percent", weight: "samples" },
  memory: { column: "memory", weight: "samples" },
  networkRxPerSecond: ofRate("network_rx"),
  networkTxPerSecond: ofRate("network_tx"),
  blockReadPerSecond: ofRate("block_read"),
  blockWritePerSecond: ofRate("block_write"),
} as const;

export type ContainerSeriesName = keyof typeof SERIES;
export const CONTAINER_SERIES_NAMES = Object.keys(SERIES) as ContainerSeriesName[];

/**
 * Bytes per second since the sample before; `null` while unknown. A container in the network of the host
 * or of another container has none of its own.
 */
export type ContainerRates = Record<
  Exclude<ContainerSeriesName, "cpuPercent" | "memory">,
  number | null
>;

/** The figures of a container at one moment. */
export interface ContainerFigures extends ContainerRates {
  /** 100 is one core. */
  cpuPercent: number;
  /** Bytes, without the page cache. */
  memory: number;
}

/** Several samples together: mean, minimum and maximum of each figure. */
export type ContainerPoint =
  & {
    /** Unix seconds. */
    ts: number;
    samples: number;
  }
  & ContainerFigures
  & { [Name in `${ContainerSeriesName}Min` | `${ContainerSeriesName}Max`]: number | null };

const { columns, parameters } = sampleColumns(SERIES);

const INSERT_SAMPLE = `
  INSERT OR REPLACE INTO container_samples (series, resolution, ts, samples, ${columns})
  VALUES (:series, ${RESOLUTIONS[0]}, :ts, 1, ${parameters})`;

// A cross join keeps the order: the few series first, then a range of the key for each.
const ROLL_UP = `
  INSERT OR REPLACE INTO container_samples
    (series, resolution, ts, samples, ${rollUpColumns(SERIES)})
  SELECT series, :into, :begin, sum(samples), ${aggregates(SERIES)}
  FROM container_series CROSS JOIN container_samples ON series = id
  WHERE host_id = :hostId AND last_ts >= :begin
    AND resolution = :of AND ts >= :begin AND ts < :end
  GROUP BY series`;

const SELECT_HISTORY = `
  SELECT ts - ts % :step AS ts, sum(samples) AS samples, ${aggregates(SERIES)}
  FROM container_samples
  WHERE series = :series AND resolution = :resolution AND ts >= :from AND ts <= :to
  GROUP BY 1 ORDER BY 1`;

/** Stores a sample of a container; one of the same time is replaced (the clock was set back). */
export function insertContainerSample(
  db: Database,
  { series, ts, ...figures }: ContainerFigures & { series: number; ts: number },
): void {
  db.run(INSERT_SAMPLE, { ...figures, series, ts, memory: Math.round(figures.memory) });
}

/** The series of a container name; `undefined` for a name that was never sampled. */
export function selectContainerSeries(
  db: Database,
  { hostId, name }: { hostId: string; name: string },
): number | undefined {
  return db.get<{ id: number }>(
    "SELECT id FROM container_series WHERE host_id = :hostId AND name = :name",
    { hostId, name },
  )?.id;
}

/** Creates the series, or records the time of its last sample. @returns Its id. */
export function upsertContainerSeries(
  db: Database,
  series: { hostId: string; name: string; ts: number },
): number {
  return db.get<{ id: number }>(
    `INSERT INTO container_series (host_id, name, last_ts) VALUES (:hostId, :name, :ts)
     ON CONFLICT (host_id, name) DO UPDATE SET last_ts = excluded.last_ts
     RETURNING id`,
    series,
  )!.id;
}

/** Gives a series another name, unless another series has it. */
export function renameContainerSeries(
  db: Database,
  series: { hostId: string; from: string; to: string },
): void {
  db.run(
    "UPDATE OR IGNORE container_series SET name = :to WHERE host_id = :hostId AND name = :from",
    series,
  );
}

export function countContainerSeries(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM container_series")!.n;
}

/** Time of the last sample of any container, in Unix seconds. */
export function selectLastContainerSample(db: Database): number | undefined {
  return db.get<{ ts: number | null }>("SELECT max(last_ts) AS ts FROM container_series")!.ts ??
    undefined;
}

/** Ids that are greater than `after`, in order. */
export function selectContainerSeriesAfter(
  db: Database,
  { after, limit }: { after: number; limit: number },
): number[] {
  return db.all<{ id: number }>(
    "SELECT id FROM container_series WHERE id > :after ORDER BY id LIMIT :limit",
    { after, limit },
  ).map(({ id }) => id);
}

/** Computes the roll-up that contains `ts` for every series that was sampled in it. */
export function rollUpContainerSamples(
  db: Database,
  { hostId, ts, of, into }: { hostId: string; ts: number; of: Resolution; into: Resolution },
): void {
  const begin = ts - ts % into;
  db.run(ROLL_UP, { hostId, of, into, begin, end: begin + into });
}

/** The rows of a resolution between two times, both included, as points of `step` seconds. */
export function selectContainerHistory(
  db: Database,
  range: { series: number; resolution: Resolution; step: number; from: number; to: number },
): ContainerPoint[] {
  return db.all<ContainerPoint>(SELECT_HISTORY, range);
}

/** Deletes rows of a series before a time, the oldest first, about `rowsMax` at most. */
export function deleteContainerSamplesBefore(
  db: Database,
  { series, resolution, before, rowsMax }: {
    series: number;
    resolution: Resolution;
    before: number;
    rowsMax: number;
  },
): void {
  const oldest = db.get<{ ts: number | null }>(
    "SELECT min(ts) AS ts FROM container_samples WHERE series = :series AND resolution = :resolution",
    { series, resolution },
  )!.ts;
  if (oldest === null || oldest >= before) return;
  db.run(
    `DELETE FROM container_samples
     WHERE series = :series AND resolution = :resolution AND ts < :before`,
    { series, resolution, before: Math.min(before, oldest + rowsMax * resolution) },
  );
}

/** Deletes the series that was sampled the longest time ago, with its samples. */
export function deleteOldestContainerSeries(db: Database): void {
  const oldest = db.get<{ id: number }>(
    "SELECT id FROM container_series ORDER BY last_ts, id LIMIT 1",
  );
  if (!oldest) return;
  db.run("DELETE FROM container_samples WHERE series = :id", oldest);
  db.run("DELETE FROM container_series WHERE id = :id", oldest);
}

/** Deletes the series without a sample since a time; their samples must be gone before. */
export function deleteContainerSeriesBefore(db: Database, before: number): void {
  db.run("DELETE FROM container_series WHERE last_ts < :before", { before });
}
