/**
 * The `integration_data` table: what integrations brought.
 *
 * @module
 */

import type { MetricsDatabase } from "../database.ts";

export const DATA_TYPES = ["metric", "alert", "event"] as const;
export type DataType = (typeof DATA_TYPES)[number];

/** One record as shown. */
export interface DataRecord {
  id: string;
  integrationId: string;
  type: DataType;
  name: string;
  value: number | null;
  unit: string | null;
  labels: Record<string, string>;
  severity: string | null;
  status: string | null;
  detail: string | null;
  /** ISO 8601, UTC. */
  timestamp: string;
}

/** What a record is stored with besides what is shown. */
export interface DataRecordSource {
  /** Names a happening that is stored once; `null` for a sample. */
  key: string | null;
  /** Whether it is an alert that goes on. */
  active: boolean;
}

type Row = Omit<DataRecord, "labels"> & { labels: string };

/**
 * Records of an integration, newest first.
 *
 * @param filter Times are ISO 8601, UTC, and inclusive.
 */
export function selectIntegrationData(
  db: MetricsDatabase,
  integrationId: string,
  { limit, offset, ...filter }: DataFilter & { limit: number; offset: number },
): DataRecord[] {
  const { where, values } = conditionOf(integrationId, filter);
  return db.all<Row>(
    `SELECT id, integration_id AS integrationId, type, name, value, unit, labels, severity, status,
            detail, timestamp
     FROM integration_data WHERE ${where}
     ORDER BY timestamp DESC, seq DESC LIMIT :limit OFFSET :offset`,
    { ...values, limit, offset },
  ).map((row) => ({ ...row, labels: JSON.parse(row.labels) }));
}

/** Number of records that a filter lets through. */
export function countIntegrationDataOf(
  db: MetricsDatabase,
  integrationId: string,
  filter: DataFilter,
): number {
  const { where, values } = conditionOf(integrationId, filter);
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM integration_data WHERE ${where}`,
    values,
  )!.n;
}

/** Which records of an integration; times are ISO 8601, UTC and inclusive. */
interface DataFilter {
  type?: DataType | undefined;
  since: string;
  until: string;
}

function conditionOf(integrationId: string, { type, since, until }: DataFilter) {
  return {
    where: `integration_id = :integrationId ${type === undefined ? "" : "AND type = :type"}
       AND timestamp >= :since AND timestamp <= :until`,
    values: { integrationId, since, until, ...(type !== undefined && { type }) },
  };
}

/** Stores a record; a happening that is known keeps its id and takes over the rest. */
export function upsertIntegrationData(
  db: MetricsDatabase,
  { labels, active, ...record }: DataRecord & DataRecordSource,
): void {
  db.run(
    `INSERT INTO integration_data
       (id, integration_id, type, name, value, unit, labels, severity, status, detail, timestamp,
        source_key, active)
     VALUES
       (:id, :integrationId, :type, :name, :value, :unit, :labels, :severity, :status, :detail,
        :timestamp, :key, :active)
     ON CONFLICT (integration_id, source_key) WHERE source_key IS NOT NULL DO UPDATE SET
       type = excluded.type, name = excluded.name, value = excluded.value, unit = excluded.unit,
       labels = excluded.labels, severity = excluded.severity, status = excluded.status,
       detail = excluded.detail, timestamp = excluded.timestamp, active = excluded.active`,
    { ...record, labels: JSON.stringify(labels), active: Number(active) },
  );
}

/**
 * Marks the alerts that went on until now and are not among `keys` as resolved.
 *
 * @param at ISO 8601, UTC.
 * @returns How many.
 */
export function updateEndedAlerts(
  db: MetricsDatabase,
  integrationId: string,
  keys: readonly string[],
  at: string,
): number {
  return db.run(
    `UPDATE integration_data SET status = 'resolved', active = 0, timestamp = :at
     WHERE integration_id = :integrationId AND type = 'alert' AND active = 1
       AND source_key NOT IN (SELECT value FROM json_each(:keys))`,
    { integrationId, at, keys: JSON.stringify(keys) },
  );
}

/**
 * Deletes the oldest records beyond `max`, and with them those of the same moment.
 *
 * @returns How many went.
 */
export function deleteIntegrationDataBeyond(
  db: MetricsDatabase,
  integrationId: string,
  max: number,
): number {
  return db.run(
    `DELETE FROM integration_data
     WHERE integration_id = :integrationId AND timestamp <= (
       SELECT timestamp FROM integration_data WHERE integration_id = :integrationId
       ORDER BY timestamp DESC LIMIT 1 OFFSET :max)`,
    { integrationId, max },
  );
}

/**
 * Deletes up to `max` records older than `before`; many at once would stall every request.
 *
 * @param before ISO 8601, UTC.
 * @returns How many went.
 */
export function deleteIntegrationDataBefore(
  db: MetricsDatabase,
  integrationId: string,
  before: string,
  max: number,
): number {
  return db.run(
    `DELETE FROM integration_data WHERE seq IN (
       SELECT seq FROM integration_data
       WHERE integration_id = :integrationId AND timestamp < :before LIMIT :max)`,
    { integrationId, before, max },
  );
}
