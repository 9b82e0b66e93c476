/**
 * The `status_page_components` table: the parts whose state a status page shows.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** From the best to the worst. */
export const COMPONENT_STATUSES = [
  "operational",
  "under_maintenance",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const;
export type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

/** One component as stored. Times are ISO 8601, UTC. */
export interface StatusPageComponent {
  id: string;
  page_id: string;
  name: string;
  description: string;
  status: ComponentStatus;
  display_order: number;
  group_name: string | null;
  /** The monitor that its status follows. */
  monitor_id: string | null;
  created_at: string;
  updated_at: string;
}

const COLUMNS = `
  id, page_id, name, description, status, display_order, group_name, monitor_id, created_at,
  updated_at`;

/** Of a component with the id `component.id`: whether a maintenance that covers it is in progress. */
const UNDER_MAINTENANCE = `EXISTS (
  SELECT 1 FROM status_page_maintenance_components AS covered
  JOIN status_page_maintenances AS maintenance ON maintenance.id = covered.maintenance_id
  WHERE covered.component_id = component.id AND maintenance.status = 'in_progress')`;

/** The components of a page that a maintenance in progress covers. */
export function selectComponentsUnderMaintenance(db: Database, pageId: string): Set<string> {
  return new Set(
    db.all<{ id: string }>(
      `SELECT id FROM status_page_components AS component
       WHERE page_id = :pageId AND ${UNDER_MAINTENANCE}`,
      { pageId },
    ).map(({ id }) => id),
  );
}

/** In the order in which they are shown. */
export function selectComponents(db: Database, pageId: string): StatusPageComponent[] {
  return db.all<StatusPageComponent>(
    `SELECT ${COLUMNS} FROM status_page_components
     WHERE page_id = :pageId ORDER BY display_order, created_at, id`,
    { pageId },
  );
}

/** One component of a page, or `undefined` when the page has none with that id. */
export function selectComponent(
  db: Database,
  pageId: string,
  id: string,
): StatusPageComponent | undefined {
  return db.get<StatusPageComponent>(
    `SELECT ${COLUMNS} FROM status_page_components WHERE id = :id AND page_id = :pageId`,
    { id, pageId },
  );
}

/** The components of all pages that follow a monitor and are not under maintenance. */
export function selectFollowingComponents(db: Database, monitorId: string): StatusPageComponent[] {
  return db.all<StatusPageComponent>(
    `SELECT ${COLUMNS} FROM status_page_components AS component
     WHERE monitor_id = :monitorId AND NOT ${UNDER_MAINTENANCE} ORDER BY created_at, id`,
    { monitorId },
  );
}

export function countFollowingComponents(db: Database, monitorId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM status_page_components WHERE monitor_id = :monitorId",
    { monitorId },
  )!.n;
}

/** How many a page has, and the place after the last of them. */
export function selectComponentCount(
  db: Database,
  pageId: string,
): { count: number; nextOrder: number } {
  return db.get<{ count: number; nextOrder: number }>(
    `SELECT count(*) AS count, coalesce(max(display_order) + 1, 0) AS nextOrder
     FROM status_page_components WHERE page_id = :pageId`,
    { pageId },
  )!;
}

export function insertComponent(db: Database, component: StatusPageComponent): void {
  db.run(
    `INSERT INTO status_page_components (${COLUMNS})
     VALUES (:id, :page_id, :name, :description, :status, :display_order, :group_name,
       :monitor_id, :created_at, :updated_at)`,
    { ...component },
  );
}

export function updateComponent(db: Database, component: StatusPageComponent): void {
  const { page_id: _, created_at: __, ...row } = component;
  db.run(
    `UPDATE status_page_components
     SET name = :name, description = :description, status = :status,
       display_order = :display_order, group_name = :group_name, monitor_id = :monitor_id,
       updated_at = :updated_at
     WHERE id = :id`,
    row,
  );
}

export function deleteComponent(db: Database, id: string): void {
  db.run("DELETE FROM status_page_components WHERE id = :id", { id });
}

/** What the checks of a monitor came to, or `undefined` when the id is unknown. */
export function selectMonitorState(
  db: Database,
  monitorId: string,
): { status: string; paused: boolean } | undefined {
  const row = db.get<{ status: string; paused: number }>(
    "SELECT status, paused FROM uptime_monitors WHERE id = :monitorId",
    { monitorId },
  );
  return row && { status: row.status, paused: row.paused === 1 };
}

/**
 * Components whose monitor is checked and is up or down while their status differs; those under
 * maintenance follow it afterwards.
 */
export function selectComponentsAtOdds(
  db: Database,
): (StatusPageComponent & { monitorStatus: string })[] {
  const columns = COLUMNS.replace(/\w+/g, "component.$&");
  return db.all(
    `SELECT ${columns}, monitor.status AS monitorStatus
     FROM status_page_components AS component
     JOIN uptime_monitors AS monitor ON monitor.id = component.monitor_id
     WHERE monitor.paused = 0 AND NOT ${UNDER_MAINTENANCE} AND (
       monitor.status = 'up' AND component.status <> 'operational' OR
       monitor.status = 'down' AND component.status <> 'major_outage'
     )
     ORDER BY component.created_at, component.id`,
  );
}
