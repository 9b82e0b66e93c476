/**
 * The `sla_definitions` and `sla_monitors` tables: uptime targets and the monitors that they apply
 * to.
 *
 * @module
 */

import { number, type Row, table, text } from "../columns.ts";
import type { Database, Params } from "../database.ts";

export const PERIOD_TYPES = ["monthly", "weekly"] as const;

/** The period of a target: a calendar month, or a week from Monday to Sunday. */
export type PeriodType = (typeof PERIOD_TYPES)[number];

const definitions = table("sla_definitions", {
  id: text(),
  name: text(),
  description: text(),
  /** Percent, over 0 and below 100. */
  target_uptime: number(),
  period_type: text<PeriodType>(),
  created_at: text(),
  updated_at: text(),
});

/** One definition with its monitors. Times are ISO 8601, UTC. */
export interface SlaDefinition extends Row<typeof definitions> {
  /** In the order given; deleted monitors remain. */
  monitor_ids: string[];
}

export const {
  count: countSlaDefinitions,
  /** Deletes a definition with its periods and breaches. */
  delete: deleteSlaDefinition,
} = definitions;

function select(db: Database, clauses: string, params?: Params): SlaDefinition[] {
  return db.all<Row<typeof definitions> & { monitor_ids: string }>(
    `SELECT ${definitions.columns},
       (SELECT json_group_array(monitor_id ORDER BY place) FROM sla_monitors WHERE sla_id = id)
         AS monitor_ids
     FROM sla_definitions ${clauses}`,
    params,
  ).map((row) => ({ ...row, monitor_ids: JSON.parse(row.monitor_ids) }));
}

/** All definitions by name. */
export function selectSlaDefinitions(db: Database): SlaDefinition[] {
  return select(db, "ORDER BY name COLLATE NOCASE, id");
}

/** The definitions that include a monitor. */
export function selectSlaDefinitionsOf(db: Database, monitorId: string): SlaDefinition[] {
  return select(
    db,
    `WHERE id IN (SELECT sla_id FROM sla_monitors WHERE monitor_id = :monitorId) ORDER BY id`,
    { monitorId },
  );
}

/** One definition, or `undefined` when the id is unknown. */
export function selectSlaDefinition(db: Database, id: string): SlaDefinition | undefined {
  return select(db, "WHERE id = :id", { id })[0];
}

/** Must be called in a transaction. */
export function insertSlaDefinition(db: Database, definition: SlaDefinition): void {
  definitions.insert(db, definition);
  insertMonitors(db, definition);
}

/** Must be called in a transaction. */
export function updateSlaDefinition(db: Database, definition: SlaDefinition): void {
  definitions.update(db, definition.id, definition);
  db.run("DELETE FROM sla_monitors WHERE sla_id = :id", { id: definition.id });
  insertMonitors(db, definition);
}

function insertMonitors(db: Database, { id, monitor_ids }: SlaDefinition): void {
  db.run(
    `INSERT INTO sla_monitors (sla_id, monitor_id, place)
     SELECT :id, value, key FROM json_each(:monitorIds)`,
    { id, monitorIds: JSON.stringify(monitor_ids) },
  );
}
