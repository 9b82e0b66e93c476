/**
 * The `status_page_maintenances` table: planned work that a status page announces.
 *
 * @module
 */

import type { Database } from "../../database.ts";

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
  /** The components that it covers. */
  component_ids: string[];
  created_at: string;
  updated_at: string;
}

const COLUMNS = `
  id, page_id, title, message, status, starts_at, ends_at,
  (SELECT json_group_array(component_id) FROM status_page_maintenance_components
   WHERE maintenance_id = id) AS component_ids,
  created_at, updated_at`;

type Row = Omit<StatusPageMaintenance, "component_ids"> & { component_ids: string };

const fromRow = (row: Row): StatusPageMaintenance => ({
  ...row,
  component_ids: JSON.parse(row.component_ids),
});

/** The last to start first. */
export function selectMaintenances(
  db: Database,
  { pageId, limit, offset }: { pageId: string; limit: number; offset: number },
): StatusPageMaintenance[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM status_page_maintenances
     WHERE page_id = :pageId ORDER BY starts_at DESC, id LIMIT :limit OFFSET :offset`,
    { pageId, limit, offset },
  ).map(fromRow);
}

export function countMaintenances(db: Database, pageId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM status_page_maintenances WHERE page_id = :pageId",
    { pageId },
  )!.n;
}

/** Those of a page that are not completed, the first to start first. */
export function selectOpenMaintenances(db: Database, pageId: string): StatusPageMaintenance[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM status_page_maintenances
     WHERE page_id = :pageId AND status <> 'completed' ORDER BY starts_at, id`,
    { pageId },
  ).map(fromRow);
}

/** Those of all pages that a time has made start or end, the first to start first. */
export function selectDueMaintenances(db: Database, at: string): StatusPageMaintenance[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM status_page_maintenances
     WHERE status = 'scheduled' AND starts_at <= :at OR status = 'in_progress' AND ends_at <= :at
     ORDER BY starts_at, id`,
    { at },
  ).map(fromRow);
}

/** One maintenance of a page, or `undefined` when the page has none with that id. */
export function selectMaintenance(
  db: Database,
  pageId: string,
  id: string,
): StatusPageMaintenance | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM status_page_maintenances WHERE id = :id AND page_id = :pageId`,
    { id, pageId },
  );
  return row && fromRow(row);
}

/** Stores a maintenance, in place of a former one with its id. To be called in a transaction. */
export function upsertMaintenance(
  db: Database,
  { component_ids, ...row }: StatusPageMaintenance,
): void {
  db.run(
    `INSERT INTO status_page_maintenances
       (id, page_id, title, message, status, starts_at, ends_at, created_at, updated_at)
     VALUES
       (:id, :page_id, :title, :message, :status, :starts_at, :ends_at, :created_at, :updated_at)
     ON CONFLICT (id) DO UPDATE SET
       title = excluded.title, message = excluded.message, status = excluded.status,
       starts_at = excluded.starts_at, ends_at = excluded.ends_at,
       updated_at = excluded.updated_at`,
    row,
  );
  db.run("DELETE FROM status_page_maintenance_components WHERE maintenance_id = :id", {
    id: row.id,
  });
  db.run(
    `INSERT INTO status_page_maintenance_components (maintenance_id, component_id)
     SELECT :id, value FROM json_each(:componentIds)`,
    { id: row.id, componentIds: JSON.stringify(component_ids) },
  );
}

export function deleteMaintenance(db: Database, id: string): void {
  db.run("DELETE FROM status_page_maintenances WHERE id = :id", { id });
}
