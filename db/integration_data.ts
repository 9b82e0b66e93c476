/** The `integration_data` table: data collected by integrations. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { MetricsDatabase } from "./database.ts";
import type { Page } from "./page.ts";

export const DATA_TYPES = ["metric", "alert", "event"] as const;
export type DataType = (typeof DATA_TYPES)[number];

const shown = {
  id: text(),
  integrationId: text(),
  type: text<DataType>(),
  name: text(),
  value: number<number | null>(),
  unit: text<string | null>(),
  labels: json<Record<string, string>>(),
  severity: text<string | null>(),
  status: text<string | null>(),
  detail: text<string | null>(),
  /** ISO 8601, UTC. For an active alert: when it was last seen. */
  timestamp: text(),
};

const data = table("integration_data", shown, { order: "timestamp DESC, seq DESC" });

/** One record as shown. */
export type DataRecord = Row<typeof data>;

const sources = table("integration_data", {
  ...shown,
  /**
   * Identifies an event (an alert, an incident, an annotation) that many polls see and that is stored
   * once. `null` for a sample, which is stored each time.
   */
  key: text<string | null>(),
  /** Whether it is an active alert. */
  active: boolean(),
}, { names: { key: "source_key" } });

/** One record as stored, with its identity at the source. */
export type StoredRecord = Row<typeof sources>;

/** Filter of an integration's records; times are ISO 8601, UTC and inclusive. */
interface DataFilter {
  type?: DataType | undefined;
  since: string;
  until: string;
}

/** Records of an integration, newest first. */
export function selectIntegrationData(
  db: MetricsDatabase,
  integrationId: string,
  { limit, offset, ...filter }: DataFilter & Page,
): DataRecord[] {
  const { where, params } = toCondition(integrationId, filter);
  return data.page(db, { limit, offset }, where, params);
}

export function countIntegrationData(
  db: MetricsDatabase,
  integrationId: string,
  filter: DataFilter,
): number {
  const { where, params } = toCondition(integrationId, filter);
  return data.countWhere(db, where, params);
}

function toCondition(integrationId: string, { type, since, until }: DataFilter) {
  return {
    where: `WHERE integration_id = :integrationId ${type === undefined ? "" : "AND type = :type"}
       AND timestamp >= :since AND timestamp <= :until`,
    params: { integrationId, since, until, ...(type !== undefined && { type }) },
  };
}

/** Stores a record; one with a known key keeps its id and takes the other values. */
export function upsertIntegrationData(
  db: MetricsDatabase,
  record: StoredRecord,
): void {
  sources.insertFields(
    db,
    record,
    `ON CONFLICT (integration_id, source_key) WHERE source_key IS NOT NULL DO UPDATE SET
       type = excluded.type, name = excluded.name, value = excluded.value, unit = excluded.unit,
       labels = excluded.labels, severity = excluded.severity, status = excluded.status,
       detail = excluded.detail, timestamp = excluded.timestamp, active = excluded.active`,
  );
}

/**
 * Marks the active alerts that are not among `keys` as resolved.
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
 * Deletes the oldest records beyond `max`, and all records with the same timestamp as these.
 *
 * @returns How many were deleted.
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
 * @returns How many were deleted.
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
