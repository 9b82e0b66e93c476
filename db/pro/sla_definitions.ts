/**
 * The `sla_definitions` table with `sla_monitors`: which uptime is promised, of which monitors.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const PERIOD_TYPES = ["monthly", "weekly"] as const;

/** What an uptime is promised for: a calendar month, or a week from Monday to Monday. */
export type PeriodType = (typeof PERIOD_TYPES)[number];

/** One definition as stored. Times are ISO 8601, UTC. */
export interface SlaDefinition {
  id: string;
  name: string;
  description: string;
  /** Percent, over 0 and below 100. */
  target_uptime: number;
  period_type: PeriodType;
  /** In the order given; a monitor that was deleted stays. */
  monitor_ids: string[];
  created_at: string;
  updated_at: string;
}

const SELECT = `
  SELECT id, name, description, target_uptime, period_type, created_at, updated_at,
    (SELECT json_group_array(monitor_id ORDER BY place) FROM sla_monitors WHERE sla_id = id)
      AS monitor_ids
  FROM sla_definitions`;

type Row = Omit<SlaDefinition, "monitor_ids"> & { monitor_ids: string };

const fromRow = (row: Row): SlaDefinition => ({
  ...row,
  monitor_ids: JSON.parse(row.monitor_ids),
});

/** All definitions by name. */
export function selectSlaDefinitions(db: Database): SlaDefinition[] {
  return db.all<Row>(`${SELECT} ORDER BY name COLLATE NOCASE, id`).map(fromRow);
}

/** The definitions that name a monitor. */
export function selectSlaDefinitionsOf(db: Database, monitorId: string): SlaDefinition[] {
  return db.all<Row>(
    `${SELECT} WHERE id IN (SELECT sla_id FROM sla_monitors WHERE monitor_id = :monitorId)
     ORDER BY id`,
    { monitorId },
  ).map(fromRow);
}

/** One definition, or `undefined` when the id is unknown. */
export function selectSlaDefinition(db: Database, id: string): SlaDefinition | undefined {
  const row = db.get<Row>(`${SELECT} WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function countSlaDefinitions(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM sla_definitions")!.n;
}

/** Belongs into a transaction. */
export function insertSlaDefinition(
  db: Database,
  { monitor_ids, ...definition }: SlaDefinition,
): void {
  db.run(
    `INSERT INTO sla_definitions
       (id, name, description, target_uptime, period_type, created_at, updated_at)
     VALUES
       (:id, :name, :description, :target_uptime, :period_type, :created_at, :updated_at)`,
    definition,
  );
  insertMonitors(db, definition.id, monitor_ids);
}

/** Stores everything about a definition that a user decides. Belongs into a transaction. */
export function updateSlaDefinition(
  db: Database,
  { monitor_ids, created_at: _, ...definition }: SlaDefinition,
): void {
  db.run(
    `UPDATE sla_definitions SET name = :name, description = :description,
       target_uptime = :target_uptime, period_type = :period_type, updated_at = :updated_at
     WHERE id = :id`,
    definition,
  );
  db.run("DELETE FROM sla_monitors WHERE sla_id = :id", { id: definition.id });
  insertMonitors(db, definition.id, monitor_ids);
}

/** Deletes a definition with its periods and breaches. @returns Whether the id was known. */
export function deleteSlaDefinition(db: Database, id: string): boolean {
  return db.run("DELETE FROM sla_definitions WHERE id = :id", { id }) > 0;
}

function insertMonitors(db: Database, slaId: string, monitorIds: readonly string[]): void {
  db.run(
    `INSERT INTO sla_monitors (sla_id, monitor_id, place)
     SELECT :slaId, value, key FROM json_each(:monitorIds)`,
    { slaId, monitorIds: JSON.stringify(monitorIds) },
  );
}
