/** Maintenance windows: maintenance that recurs, for the host or for some containers. @module */

import {
  countMaintenanceWindows,
  deleteMaintenanceWindow,
  insertMaintenanceWindow,
  selectMaintenanceWindow,
  selectMaintenanceWindows,
  type StoredMaintenanceWindow,
  updateMaintenanceWindow,
} from "../../../db/maintenance_windows.ts";
import type { StateDatabase } from "../../../db/database.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { notFound, requireFound, tooMany } from "../../errors.ts";
import type { MaintenanceWindow as OpenableWindow, WindowOpening } from "./maintenance.ts";
import { createNextDue, hostTimeZone, type NextDue, nextDue } from "../../input/cron.ts";
import { normalizeWindow, openedAt } from "../../updates/window.ts";
import { loadMaintenance } from "./mode.ts";

/** Limit of windows: every event is compared with each of them. */
const WINDOWS_MAX = 100;

const MINUTE_MS = 60_000;

/** Limit of joined openings: a window that always opens again before it closes never closes. */
const OPENINGS_MAX = 100;

/** A window with its times (ISO 8601, UTC). */
export interface MaintenanceWindow extends StoredMaintenanceWindow {
  /** When it closes; `null` while it is closed. */
  openUntil: string | null;
  /** When it opens next. */
  nextOpensAt: string;
}

/** The settings of a window in requests. */
export type MaintenanceWindowSettings =
  & Pick<StoredMaintenanceWindow, "cron" | "durationMinutes" | "scope" | "comment">
  & {
    /** IANA time zone; default: the host's. */
    timeZone?: string | undefined;
  };

type WindowDeps = Pick<Deps, "db" | "maintenance" | "now">;

/** The windows as the maintenance mode uses them. */
export function loadMaintenanceWindows(db: StateDatabase): OpenableWindow[] {
  // Every event is compared with every window.
  const next = createNextDue();
  return selectMaintenanceWindows(db).map((window) => ({
    target: window.scope.target,
    reason: window.comment || "Maintenance window",
    opening: (at, after) => openingOf(window, at, { after, next }),
  }));
}

/** Oldest first. */
export function listMaintenanceWindows(
  { db, now }: Pick<Deps, "db" | "now">,
): MaintenanceWindow[] {
  return selectMaintenanceWindows(db).map((window) => toWindow(db, window, now()));
}

/**
 * Stores a new window.
 *
 * @throws {AppError} `invalid` for an expression that is not five-field cron and an unknown time
 * zone; `conflict` when there are too many windows.
 */
export function createMaintenanceWindow(
  deps: WindowDeps,
  { timeZone = hostTimeZone(), ...settings }: MaintenanceWindowSettings,
): MaintenanceWindow {
  const { db, now } = deps;
  const window = normalize({
    ...settings,
    timeZone,
    id: crypto.randomUUID(),
    createdAt: now().toISOString(),
  });
  if (countMaintenanceWindows(db) >= WINDOWS_MAX) {
    throw tooMany("maintenance windows", WINDOWS_MAX);
  }
  insertMaintenanceWindow(db, window);
  reload(deps);
  return toWindow(db, window, now());
}

/**
 * Changes the given fields. The change applies at once, also to a window that is open.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one.
 */
export function changeMaintenanceWindow(
  deps: WindowDeps,
  id: string,
  change: Change<MaintenanceWindowSettings>,
): MaintenanceWindow {
  const { db, now } = deps;
  const stored = requireFound(selectMaintenanceWindow(db, id), "Maintenance window", id);
  const { timeZone = stored.timeZone, ...settings } = change;
  const window = normalize({ ...applyChange(stored, settings), timeZone });
  updateMaintenanceWindow(db, window);
  reload(deps);
  return toWindow(db, window, now());
}

/** Deletes a window; one that is open ends. @throws {AppError} `not_found`. */
export function removeMaintenanceWindow(deps: WindowDeps, id: string): void {
  if (!deleteMaintenanceWindow(deps.db, id)) throw notFound("Maintenance window", id);
  reload(deps);
}

const reload = ({ db, maintenance }: WindowDeps): void =>
  maintenance.setWindows(loadMaintenanceWindows(db));

/** @throws {AppError} `invalid` */
function normalize(window: StoredMaintenanceWindow): StoredMaintenanceWindow {
  return { ...window, ...normalizeWindow(window, "body") };
}

function openingOf(
  window: StoredMaintenanceWindow,
  at: Date,
  options: { after: Date | undefined; next?: NextDue },
): WindowOpening | undefined {
  const since = openedAt(window, at, options);
  return since && {
    since,
    get until() {
      return closedAt(window, since);
    },
  };
}

/** When a window closes. One that opens again before that stays open, so that both are one. */
function closedAt({ cron, timeZone, durationMinutes }: StoredMaintenanceWindow, since: Date): Date {
  const endOf = (opening: Date) => new Date(opening.getTime() + durationMinutes * MINUTE_MS);
  let last = since;
  for (let count = 1; count < OPENINGS_MAX; count++) {
    const next = nextDue(cron, timeZone, last);
    if (next > endOf(last)) break;
    last = next;
  }
  return endOf(last);
}

function toWindow(
  db: StateDatabase,
  window: StoredMaintenanceWindow,
  at: Date,
): MaintenanceWindow {
  const { windowsEndedAt } = loadMaintenance(db);
  const isEnded = window.scope.target.kind === "host" && windowsEndedAt !== undefined;
  const opening = openingOf(window, at, { after: isEnded ? new Date(windowsEndedAt) : undefined });
  return {
    ...window,
    openUntil: opening?.until.toISOString() ?? null,
    nextOpensAt: nextDue(window.cron, window.timeZone, at).toISOString(),
  };
}
