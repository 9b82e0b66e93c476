/** The `status_page_maintenances` table: planned work that a status page announces. @module */

import { type Row, table, text } from "../../columns.ts";
import type { Database, Params } from "../../database.ts";
import type { Page } from "../../page.ts";

export const MAINTENANCE_STATUSES = ["scheduled", "in_progress", "completed"] as const;
export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

const maintenances = table("status_page_maintenances", {
  id: text(),
  page_id: text(),
  title: text(),
  message: text(),
  status: text<MaintenanceStatus>(),
  starts_at: text(),
  ends_at: text(),
  created_at: text(),
  updated_at: text(),
});

/** One maintenance with its components. Times are ISO 8601, UTC. */
export interface StatusPageMaintenance extends Row<typeof maintenances> {
  /** The components under maintenance. */
  component_ids: string[];
}

export const { delete: deleteMaintenance } = maintenances;

function select(db: Database, clauses: string, params: Params): StatusPageMaintenance[] {
  return db.all<Row<typeof maintenances> & { component_ids: string }>(
    `SELECT ${maintenances.columns},
       (SELECT json_group_array(component_id) FROM status_page_maintenance_components
        WHERE maintenance_id = id) AS component_ids
     FROM status_page_maintenances ${clauses}`,
    params,
  ).map((row) => ({ ...row, component_ids: JSON.parse(row.component_ids) }));
}

/** Last to start first. */
export function selectMaintenances(
  db: Database,
  { pageId, limit, offset }: Page & { pageId: string },
): StatusPageMaintenance[] {
  return select(
    db,
    "WHERE page_id = :pageId ORDER BY starts_at DESC, id LIMIT :limit OFFSET :offset",
    { pageId, limit, offset },
  );
}

export function countMaintenances(db: Database, pageId: string): number {
  return maintenances.countWhere(db, "WHERE page_id = :pageId", { pageId });
}

/** The maintenances of a page that are not completed, first to start first. */
export function selectOpenMaintenances(db: Database, pageId: string): StatusPageMaintenance[] {
  return select(
    db,
    "WHERE page_id = :pageId AND status <> 'completed' ORDER BY starts_at, id",
    { pageId },
  );
}

/** The maintenances of all pages that are due to start or end, first to start first. */
export function selectDueMaintenances(db: Database, at: string): StatusPageMaintenance[] {
  return select(
    db,
    `WHERE status = 'scheduled' AND starts_at <= :at OR status = 'in_progress' AND ends_at <= :at
     ORDER BY starts_at, id`,
    { at },
  );
}

/** One maintenance of a page, or `undefined` when the page has none with that id. */
export function selectMaintenance(
  db: Database,
  pageId: string,
  id: string,
): StatusPageMaintenance | undefined {
  return select(db, "WHERE id = :id AND page_id = :pageId", { id, pageId })[0];
}

/** Stores a maintenance or replaces the one with its id. Must be called in a transaction. */
export function upsertMaintenance(db: Database, maintenance: StatusPageMaintenance): void {
  const { id, component_ids } = maintenance;
  maintenances.insertFields(
    db,
    maintenance,
    `ON CONFLICT (id) DO UPDATE SET
       title = excluded.title, message = excluded.message, status = excluded.status,
       starts_at = excluded.starts_at, ends_at = excluded.ends_at,
       updated_at = excluded.updated_at`,
  );
  db.run("DELETE FROM status_page_maintenance_components WHERE maintenance_id = :id", { id });
  db.run(
    `INSERT INTO status_page_maintenance_components (maintenance_id, component_id)
     SELECT :id, value FROM json_each(:componentIds)`,
    { id, componentIds: JSON.stringify(component_ids) },
  );
}
