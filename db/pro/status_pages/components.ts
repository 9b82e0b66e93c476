/**
 * The `status_page_components` table: the parts of a service whose state a status page shows.
 *
 * @module
 */

import { number, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** From best to worst. */
export const COMPONENT_STATUSES = [
  "operational",
  "under_maintenance",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const;
export type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

const components = table("status_page_components", {
  id: text(),
  page_id: text(),
  name: text(),
  description: text(),
  status: text<ComponentStatus>(),
  display_order: number(),
  group_name: text<string | null>(),
  /** The monitor that its status follows. */
  monitor_id: text<string | null>(),
  created_at: text(),
  updated_at: text(),
});

/** One component as stored. Times are ISO 8601, UTC. */
export type StatusPageComponent = Row<typeof components>;

export const {
  insert: insertComponent,
  save: updateComponent,
  delete: deleteComponent,
} = components;

/**
 * Of a component with the id `component.id`: whether a maintenance that covers it is in progress.
 */
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

/** In display order. */
export function selectComponents(db: Database, pageId: string): StatusPageComponent[] {
  return components.select(db, "WHERE page_id = :pageId ORDER BY display_order, created_at, id", {
    pageId,
  });
}

/** One component of a page, or `undefined` when the page has none with that id. */
export function selectComponent(
  db: Database,
  pageId: string,
  id: string,
): StatusPageComponent | undefined {
  return components.selectOne(db, "WHERE id = :id AND page_id = :pageId", { id, pageId });
}

/** The components of all pages that follow a monitor and are not under maintenance. */
export function selectFollowingComponents(db: Database, monitorId: string): StatusPageComponent[] {
  return components.select(
    db,
    `AS component WHERE monitor_id = :monitorId AND NOT ${UNDER_MAINTENANCE}
     ORDER BY created_at, id`,
    { monitorId },
  );
}

export function countFollowingComponents(db: Database, monitorId: string): number {
  return components.countWhere(db, "WHERE monitor_id = :monitorId", { monitorId });
}

/** The number of components of a page, and the next free place in the order. */
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

/** The state of a monitor, or `undefined` when the id is unknown. */
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
 * Components whose status differs from their monitor's, unless the monitor is paused or pending.
 * Components under maintenance are excluded: they follow their monitor again afterwards.
 */
export function selectOutdatedComponents(
  db: Database,
): (StatusPageComponent & { monitorStatus: string })[] {
  const columns = components.columns.replace(/\w+/g, "component.$&");
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
