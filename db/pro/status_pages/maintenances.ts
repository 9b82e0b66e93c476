/**
 * The `status_page_maintenances` table: planned work that a status page announces.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database, Params } from "../../database.ts";
import type { Page } from "../../page.ts";

export const MAINTENANCE_STATUSES = ["scheduled", "in_progress", "completed"] as const;
export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

/** One maintenance as stored. Times are ISO 8601, UTC. */
export interface StatusPageMaintenance {
  id: string;
  page_id: string;
  title: string;
  message: string;
  status: MaintenanceStatus;
  starts_at: string;
  ends_at: string;
  /** The components under maintenance. */
  component_ids: string[];
  created_at: string;
  updated_at: string;
}

const maintenances = table<Omit<StatusPageMaintenance, "component_ids">>(
  "status_page_maintenances",
  {
    id: "value",
    page_id: "value",
    title: "value",
    message: "value",
    status: "value",
    starts_at: "value",
    ends_at: "value",
    created_at: "value",
    updated_at: "value",
  },
);

export const { delete: deleteMaintenance } = maintenances;

function select(db: Database, clauses: string, params: Params): StatusPageMaintenance[] {
  return db.all<Omit<StatusPageMaintenance, "component_ids"> & { component_ids: string }>(
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
