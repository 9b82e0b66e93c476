/**
 * Planned maintenance of a status page. It is announced when created, and starts and completes on
 * schedule. While it is in progress, its components are shown as under maintenance.
 *
 * @module
 */

import type { Page, Paged } from "../../../db/page.ts";
import { selectComponents } from "../../../db/pro/status_pages/components.ts";
import {
  countMaintenances,
  deleteMaintenance,
  MAINTENANCE_STATUSES,
  type MaintenanceStatus,
  selectDueMaintenances,
  selectMaintenance,
  selectMaintenances,
  selectOpenMaintenances,
  type StatusPageMaintenance,
  upsertMaintenance,
} from "../../../db/pro/status_pages/maintenances.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import type { EventMap } from "../../events/kinds/mod.ts";
import { requirePage } from "./page_lookup.ts";

export { MAINTENANCE_STATUSES };

/** Limit of scheduled and current maintenances per page; the page shows all of them. */
const OPEN_MAX = 50;

interface NewMaintenance {
  title: string;
  message: string;
  /** ISO 8601 with any UTC offset. */
  starts_at: string;
  ends_at: string;
  component_ids: string[];
}

/** By start, latest first. @throws {AppError} `not_found`. */
export function listMaintenances(
  { db }: Pick<Deps, "db">,
  pageId: string,
  page: Page,
): { maintenances: StatusPageMaintenance[] } & Paged {
  requirePage(db, pageId);
  const maintenances = selectMaintenances(db, { pageId, ...page });
  return { maintenances, total: countMaintenances(db, pageId), ...page };
}

/**
 * Stores and announces a maintenance. If its start has passed, it is in progress immediately.
 *
 * @throws {AppError} `not_found` for the page; `invalid` for an end that has passed or is not after
 * the start, and for a component of another page; `conflict` when the limit is reached.
 */
export function createMaintenance(
  deps: EmitDeps,
  pageId: string,
  input: NewMaintenance,
): StatusPageMaintenance {
  const { db, now, log } = deps;
  const page = requirePage(db, pageId);
  const at = now().toISOString();
  const id = crypto.randomUUID();
  const maintenance = normalize(deps, {
    ...input,
    id,
    page_id: pageId,
    status: "scheduled",
    created_at: at,
    updated_at: at,
  });
  if (maintenance.status === "completed") {
    throw new AppError("invalid", "body.ends_at: must be in the future");
  }
  if (selectOpenMaintenances(db, pageId).length >= OPEN_MAX) {
    throw tooMany("planned maintenances per page", OPEN_MAX);
  }
  publish(deps, page, null, maintenance);
  log.info("status page maintenance created", { pageId, maintenanceId: id });
  return requireMaintenance(db, pageId, id);
}

/**
 * Changes the given fields and announces the result. The status follows the times: an end that has
 * passed completes the maintenance.
 *
 * @throws {AppError} `not_found` also for a maintenance of another page; `invalid` as for a new one.
 */
export function changeMaintenance(
  deps: EmitDeps,
  pageId: string,
  id: string,
  change: Change<NewMaintenance>,
): StatusPageMaintenance {
  const { db, now, log } = deps;
  const page = requirePage(db, pageId);
  const before = requireMaintenance(db, pageId, id);
  const next = normalize(deps, {
    ...applyChange(before, change),
    updated_at: now().toISOString(),
  });
  publish(deps, page, before.status, next);
  log.info("status page maintenance changed", { pageId, maintenanceId: id, status: next.status });
  return requireMaintenance(db, pageId, id);
}

/**
 * Deletes a maintenance. If it was not completed, it is announced as cancelled.
 *
 * @throws {AppError} `not_found` also for a maintenance of another page.
 */
export function removeMaintenance(deps: EmitDeps, pageId: string, id: string): void {
  const { db, log, statusPages } = deps;
  const page = requirePage(db, pageId);
  const maintenance = requireMaintenance(db, pageId, id);
  const { status } = maintenance;
  const remove = () => {
    deleteMaintenance(db, id);
    statusPages.clear();
  };
  if (status === "completed") remove();
  else {
    emit(deps, "status_page.updated", toEventData(page, status, maintenance, "cancelled"), remove);
  }
  log.info("status page maintenance deleted", { pageId, maintenanceId: id });
}

/** Starts and completes the maintenances that are due. */
export function advanceMaintenances(deps: EmitDeps): void {
  const { db, now, log } = deps;
  const at = now().toISOString();
  for (const maintenance of selectDueMaintenances(db, at)) {
    const { id, page_id: pageId } = maintenance;
    const status = statusAt(maintenance, at);
    const next = { ...maintenance, status, updated_at: at };
    publish(deps, requirePage(db, pageId), maintenance.status, next);
    log.info("status page maintenance advanced", { pageId, maintenanceId: id, status });
  }
}

/**
 * Converts the times to UTC, removes duplicate components and sets the status.
 *
 * @throws {AppError} `invalid`.
 */
function normalize(
  { db, now }: Pick<Deps, "db" | "now">,
  maintenance: StatusPageMaintenance,
): StatusPageMaintenance {
  const starts_at = new Date(maintenance.starts_at).toISOString();
  const ends_at = new Date(maintenance.ends_at).toISOString();
  if (ends_at <= starts_at) throw new AppError("invalid", "body.ends_at: must be after starts_at");
  const known = new Set(selectComponents(db, maintenance.page_id).map(({ id }) => id));
  const component_ids = [...new Set(maintenance.component_ids)];
  const unknown = component_ids.find((id) => !known.has(id));
  if (unknown !== undefined) {
    throw new AppError("invalid", `body.component_ids: the page has no component ${unknown}`);
  }
  const times = { starts_at, ends_at };
  const status = statusAt(times, now().toISOString());
  return { ...maintenance, ...times, component_ids, status };
}

function statusAt(
  { starts_at, ends_at }: Pick<StatusPageMaintenance, "starts_at" | "ends_at">,
  at: string,
): MaintenanceStatus {
  if (ends_at <= at) return "completed";
  return starts_at <= at ? "in_progress" : "scheduled";
}

/** Stores a maintenance and notifies the subscribers. */
function publish(
  deps: EmitDeps,
  page: StatusPage,
  before: MaintenanceStatus | null,
  maintenance: StatusPageMaintenance,
): void {
  const data = toEventData(page, before, maintenance, maintenance.status);
  emit(deps, "status_page.updated", data, () => {
    upsertMaintenance(deps.db, maintenance);
    deps.statusPages.clear();
  });
}

function toEventData(
  page: StatusPage,
  oldStatus: MaintenanceStatus | null,
  { title, message, starts_at, ends_at }: StatusPageMaintenance,
  newStatus: MaintenanceStatus | "cancelled",
): EventMap["status_page.updated"] {
  return {
    page: page.name,
    pageId: page.id,
    component: null,
    incident: null,
    maintenance: title,
    startsAt: starts_at,
    endsAt: ends_at,
    oldStatus,
    newStatus,
    message: message === "" ? null : message,
  };
}

function requireMaintenance(db: Deps["db"], pageId: string, id: string): StatusPageMaintenance {
  return requireFound(selectMaintenance(db, pageId, id), "Maintenance", id);
}
