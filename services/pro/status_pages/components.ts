/**
 * Components of a status page. A component may follow an uptime monitor: it is operational while
 * the monitor is up and in a major outage while it is down. While the monitor is paused or its
 * state is unknown, the component keeps its last status.
 *
 * @module
 */

import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  countFollowingComponents,
  deleteComponent,
  insertComponent,
  selectComponent,
  selectComponentCount,
  selectFollowingComponents,
  selectMonitorState,
  selectOutdatedComponents,
  type StatusPageComponent,
  updateComponent,
} from "../../../db/pro/status_pages/components.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import type { EventMap } from "../../events/kinds/mod.ts";
import type { NewEvent } from "../../events/events.ts";
import type { Recorder } from "../../events/recorder.ts";
import { requirePage } from "./page_lookup.ts";
import { loadComponents, type PageComponent } from "./public.ts";

export { COMPONENT_STATUSES, type ComponentStatus };

/** Limit of components per page. */
const COMPONENTS_MAX = 200;

/** Limit of components per monitor: each publishes an event when the monitor goes down. */
const FOLLOWERS_MAX = 50;

interface NewComponent {
  name: string;
  description: string;
  /** A component that follows a monitor has it only until the monitor's state is known. */
  status: ComponentStatus;
  /** Default: after the last. */
  display_order?: number | undefined;
  group_name: string | null;
  monitor_id: string | null;
}

/** In display order. @throws {AppError} `not_found`. */
export function listComponents({ db }: Pick<Deps, "db">, pageId: string): PageComponent[] {
  requirePage(db, pageId);
  return loadComponents(db, pageId);
}

/**
 * Stores a new component.
 *
 * @throws {AppError} `not_found` for the page; `invalid` for a monitor that does not exist;
 * `conflict` if the page or the monitor has too many components.
 */
export function createComponent(
  { db, now, log, statusPages }: Pick<Deps, "db" | "now" | "log" | "statusPages">,
  pageId: string,
  component: NewComponent,
): PageComponent {
  requirePage(db, pageId);
  const { monitor_id } = component;
  const monitored = monitor_id === null ? undefined : monitoredStatus(db, monitor_id);
  const { count, nextOrder } = selectComponentCount(db, pageId);
  if (count >= COMPONENTS_MAX) throw tooMany("components per page", COMPONENTS_MAX);
  const id = crypto.randomUUID();
  const at = now().toISOString();
  insertComponent(db, {
    ...component,
    id,
    page_id: pageId,
    status: monitored ?? component.status,
    display_order: component.display_order ?? nextOrder,
    created_at: at,
    updated_at: at,
  });
  statusPages.clear();
  log.info("status page component created", { pageId, componentId: id });
  return loadComponent(db, pageId, id);
}

/**
 * Changes the given fields. A new status is published as an event and sent to subscribers.
 *
 * @throws {AppError} `not_found` also for a component of another page; `invalid` for a monitor
 * that does not exist; `conflict` for a status set while the component follows a monitor.
 */
export function changeComponent(
  deps: EmitDeps,
  pageId: string,
  id: string,
  change: Change<NewComponent>,
): PageComponent {
  const { db, now, log, statusPages } = deps;
  const page = requirePage(db, pageId);
  const component = requireComponent(db, pageId, id);
  const next: StatusPageComponent = {
    ...applyChange<StatusPageComponent>(component, change),
    status: changedStatus(db, component, change),
    updated_at: now().toISOString(),
  };
  const store = () => {
    updateComponent(db, next);
    statusPages.clear();
  };
  if (next.status === component.status) store();
  else emit(deps, "status_page.updated", toEventData(page, next, component.status), store);
  log.info("status page component changed", { pageId, componentId: id, status: next.status });
  return loadComponent(db, pageId, id);
}

/** @throws {AppError} `not_found` also for a component of another page. */
export function removeComponent(
  { db, log, statusPages }: Pick<Deps, "db" | "log" | "statusPages">,
  pageId: string,
  id: string,
): void {
  requirePage(db, pageId);
  requireComponent(db, pageId, id);
  deleteComponent(db, id);
  statusPages.clear();
  log.info("status page component deleted", { pageId, componentId: id });
}

/** Updates the components of a monitor in the transaction of the monitor's event. */
export const componentRecorder: Recorder = {
  edition: "pro",
  record({ db, now, statusPages }, { event, data }) {
    if (event !== "monitor.down" && event !== "monitor.up") return;
    const { monitorId } = data as EventMap["monitor.down" | "monitor.up"];
    const status = event === "monitor.up" ? "operational" : "major_outage";
    return selectFollowingComponents(db, monitorId)
      .filter((component) => component.status !== status)
      .slice(0, FOLLOWERS_MAX)
      .map((component): NewEvent => {
        updateComponent(db, { ...component, status, updated_at: now().toISOString() });
        statusPages.clear();
        const page = requirePage(db, component.page_id);
        return {
          event: "status_page.updated",
          data: toEventData(page, { ...component, status }, component.status),
        };
      });
  },
};

/**
 * Updates the components whose monitor changed its state without an event: it was paused or
 * changed while it was down, or went down while the license did not include status pages.
 */
export function reconcileComponents(deps: EmitDeps): void {
  const { db, now, statusPages } = deps;
  for (const { monitorStatus, ...component } of selectOutdatedComponents(db)) {
    const status = statusOfMonitor(monitorStatus)!;
    const page = requirePage(db, component.page_id);
    const data = toEventData(page, { ...component, status }, component.status);
    emit(deps, "status_page.updated", data, () => {
      updateComponent(db, { ...component, status, updated_at: now().toISOString() });
      statusPages.clear();
    });
  }
}

/** The component status for a monitor status; `undefined` if the monitor is neither up nor down. */
function statusOfMonitor(monitorStatus: string): ComponentStatus | undefined {
  if (monitorStatus === "up") return "operational";
  if (monitorStatus === "down") return "major_outage";
  return undefined;
}

/** The status of a component that starts to follow a monitor. */
function monitoredStatus(db: Deps["db"], monitorId: string): ComponentStatus | undefined {
  const monitor = selectMonitorState(db, monitorId);
  if (!monitor) {
    throw new AppError("invalid", `body.monitor_id: monitor ${monitorId} does not exist`);
  }
  if (countFollowingComponents(db, monitorId) >= FOLLOWERS_MAX) {
    throw tooMany("components per monitor", FOLLOWERS_MAX);
  }
  return monitor.paused ? undefined : statusOfMonitor(monitor.status);
}

function changedStatus(
  db: Deps["db"],
  component: StatusPageComponent,
  { status = component.status, monitor_id = component.monitor_id }: Change<NewComponent>,
): ComponentStatus {
  if (monitor_id === null) return status;
  if (monitor_id !== component.monitor_id) return monitoredStatus(db, monitor_id) ?? status;
  if (status === component.status) return status;
  throw new AppError(
    "conflict",
    `The component follows monitor ${monitor_id}; set monitor_id to null to set the status`,
  );
}

function toEventData(
  page: StatusPage,
  { name, status }: StatusPageComponent,
  oldStatus: ComponentStatus,
): EventMap["status_page.updated"] {
  return {
    page: page.name,
    pageId: page.id,
    component: name,
    incident: null,
    oldStatus,
    newStatus: status,
    message: null,
  };
}

function requireComponent(db: Deps["db"], pageId: string, id: string): StatusPageComponent {
  return requireFound(selectComponent(db, pageId, id), "Component", id);
}

const loadComponent = (db: Deps["db"], pageId: string, id: string): PageComponent =>
  loadComponents(db, pageId).find((component) => component.id === id)!;
