/**
 * Components: the parts whose state a status page shows. One may follow an uptime monitor, and is
 * then operational while the monitor is up, and in a major outage while it is down; while nothing
 * is known, or the monitor is paused, it keeps what it said last.
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
  selectComponentsAtOdds,
  selectFollowingComponents,
  selectMonitorState,
  type StatusPageComponent,
  updateComponent,
} from "../../../db/pro/status_pages/components.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import type { Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { AppError, notFound } from "../../errors.ts";
import type { EventMap, NewEvent } from "../../events/events.ts";
import type { Recorder } from "../../events/recorder.ts";
import { existingPage } from "./existing_page.ts";
import { forgetPublicPages, type ShownComponent, shownComponents } from "./public.ts";

export { COMPONENT_STATUSES, type ComponentStatus, type StatusPageComponent };

/** Most components of one page. */
const COMPONENTS_MAX = 200;

/** Most components that follow one monitor: each makes an event when it goes down. */
const FOLLOWERS_MAX = 50;

export interface NewComponent {
  name: string;
  description: string;
  /** Of a component that follows a monitor only until the monitor is known to be up or down. */
  status: ComponentStatus;
  /** Default: after the last. */
  display_order?: number | undefined;
  group_name: string | null;
  monitor_id: string | null;
}

/** In the order in which they are shown. @throws {AppError} `not_found`. */
export function listComponents({ db }: Pick<Deps, "db">, pageId: string): ShownComponent[] {
  existingPage(db, pageId);
  return shownComponents(db, pageId);
}

/**
 * Stores a new component.
 *
 * @throws {AppError} `not_found` for the page; `invalid` for a monitor that does not exist;
 * `conflict` when the page or the monitor has too many.
 */
export function createComponent(
  deps: Pick<Deps, "db" | "now" | "log">,
  pageId: string,
  component: NewComponent,
): ShownComponent {
  const { db, now, log } = deps;
  existingPage(db, pageId);
  const { monitor_id } = component;
  const followed = monitor_id === null ? undefined : followedStatus(db, monitor_id);
  const { count, nextOrder } = selectComponentCount(db, pageId);
  if (count >= COMPONENTS_MAX) {
    throw new AppError("conflict", `A status page has at most ${COMPONENTS_MAX} components`);
  }
  const id = crypto.randomUUID();
  const at = now().toISOString();
  insertComponent(db, {
    ...component,
    id,
    page_id: pageId,
    status: followed ?? component.status,
    display_order: component.display_order ?? nextOrder,
    created_at: at,
    updated_at: at,
  });
  forgetPublicPages(deps);
  log.info("status page component created", { pageId, componentId: id });
  return shown(db, pageId, id);
}

/**
 * Changes what is given and keeps the rest. Another status is an event, of which the subscribers
 * of the page are told.
 *
 * @throws {AppError} `not_found` also for a component of another page; `invalid` for a monitor
 * that does not exist; `conflict` for a status set by hand while it follows a monitor.
 */
export function changeComponent(
  deps: EmitDeps,
  pageId: string,
  id: string,
  change: Change<NewComponent>,
): ShownComponent {
  const { db, now, log } = deps;
  const page = existingPage(db, pageId);
  const component = existing(db, pageId, id);
  const next: StatusPageComponent = {
    ...component,
    name: change.name ?? component.name,
    description: change.description ?? component.description,
    status: changedStatus(db, component, change),
    display_order: change.display_order ?? component.display_order,
    group_name: change.group_name === undefined ? component.group_name : change.group_name,
    monitor_id: change.monitor_id === undefined ? component.monitor_id : change.monitor_id,
    updated_at: now().toISOString(),
  };
  const store = () => {
    updateComponent(db, next);
    forgetPublicPages(deps);
  };
  if (next.status === component.status) store();
  else emit(deps, "status_page.updated", updateOf(page, next, component.status), store);
  log.info("status page component changed", { pageId, componentId: id, status: next.status });
  return shown(db, pageId, id);
}

/** @throws {AppError} `not_found` also for a component of another page. */
export function removeComponent(deps: Pick<Deps, "db" | "log">, pageId: string, id: string): void {
  const { db, log } = deps;
  existingPage(db, pageId);
  existing(db, pageId, id);
  deleteComponent(db, id);
  forgetPublicPages(deps);
  log.info("status page component deleted", { pageId, componentId: id });
}

/** Has components follow their monitors, in the transaction of the monitor's event. */
export const componentFollower: Recorder = {
  edition: "pro",
  record({ db, now }, { event, data }) {
    if (event !== "monitor.down" && event !== "monitor.up") return;
    const { monitorId } = data as EventMap["monitor.down" | "monitor.up"];
    const status = event === "monitor.up" ? "operational" : "major_outage";
    return selectFollowingComponents(db, monitorId)
      .filter((component) => component.status !== status)
      .slice(0, FOLLOWERS_MAX)
      .map((component): NewEvent => {
        updateComponent(db, { ...component, status, updated_at: now().toISOString() });
        forgetPublicPages({ db });
        const page = existingPage(db, component.page_id);
        return {
          event: "status_page.updated",
          data: updateOf(page, { ...component, status }, component.status),
        };
      });
  },
};

/**
 * Sets the components right whose monitor got to its state without an event: it was paused while
 * it was down, is now checked against another target, or went down without a license.
 */
export function followMonitors(deps: EmitDeps): void {
  const { db, now } = deps;
  for (const { monitorStatus, ...component } of selectComponentsAtOdds(db)) {
    const status = statusUnder(monitorStatus)!;
    const page = existingPage(db, component.page_id);
    const data = updateOf(page, { ...component, status }, component.status);
    emit(deps, "status_page.updated", data, () => {
      updateComponent(db, { ...component, status, updated_at: now().toISOString() });
      forgetPublicPages(deps);
    });
  }
}

/** The status that a monitor gives to what follows it; `undefined` when it is neither up nor down. */
function statusUnder(monitorStatus: string): ComponentStatus | undefined {
  if (monitorStatus === "up") return "operational";
  if (monitorStatus === "down") return "major_outage";
  return undefined;
}

/** The same for a component that is about to follow. */
function followedStatus(db: Deps["db"], monitorId: string): ComponentStatus | undefined {
  const monitor = selectMonitorState(db, monitorId);
  if (!monitor) {
    throw new AppError("invalid", `body.monitor_id: there is no monitor ${monitorId}`);
  }
  if (countFollowingComponents(db, monitorId) >= FOLLOWERS_MAX) {
    throw new AppError("conflict", `At most ${FOLLOWERS_MAX} components can follow one monitor`);
  }
  return monitor.paused ? undefined : statusUnder(monitor.status);
}

function changedStatus(
  db: Deps["db"],
  component: StatusPageComponent,
  { status = component.status, monitor_id = component.monitor_id }: Change<NewComponent>,
): ComponentStatus {
  if (monitor_id === null) return status;
  if (monitor_id !== component.monitor_id) return followedStatus(db, monitor_id) ?? status;
  if (status === component.status) return status;
  throw new AppError(
    "conflict",
    `The component follows the monitor ${monitor_id}; set monitor_id to null to set its status`,
  );
}

function updateOf(
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

function existing(db: Deps["db"], pageId: string, id: string): StatusPageComponent {
  const component = selectComponent(db, pageId, id);
  if (!component) throw notFound("Component", id);
  return component;
}

const shown = (db: Deps["db"], pageId: string, id: string): ShownComponent =>
  shownComponents(db, pageId).find((component) => component.id === id)!;
