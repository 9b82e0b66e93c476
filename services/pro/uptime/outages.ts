/** Outages of monitors. @module */

import type { Page, Paged } from "../../../db/page.ts";
import {
  countOutages,
  deleteOutagesBefore,
  type OutageFilter,
  type OutageStatus,
  selectOutages,
  type StoredOutage,
} from "../../../db/pro/uptime/outages.ts";
import { deleteMonitorTimesBefore } from "../../../db/pro/uptime/monitor_times.ts";
import { selectMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";

export { OUTAGE_STATUSES } from "../../../db/pro/uptime/outages.ts";

/** Time for which an outage is kept, in milliseconds: a year and the month in which it ended. */
const RETENTION_MS = 400 * 24 * 60 * 60 * 1000;

/** An outage as returned by the API. */
export interface Outage extends StoredOutage {
  status: OutageStatus;
  /** Whole seconds from the start to the end, or to now. */
  durationSeconds: number;
}

type OutagePage = { outages: Outage[] } & Paged;

/** Outages of all monitors or of one, which may have been deleted; newest first. */
export function listOutages(
  { db, now }: Pick<Deps, "db" | "now">,
  { monitorId, status, ...page }: Page & {
    monitorId?: string | undefined;
    status?: OutageStatus | undefined;
  },
): OutagePage {
  const filter: OutageFilter = {
    status,
    ...(monitorId !== undefined && { monitorIds: [monitorId] }),
  };
  return {
    outages: selectOutages(db, { ...filter, ...page }).map((outage) => ({
      ...outage,
      status: outage.resolvedAt === null ? "open" : "resolved",
      durationSeconds: durationSeconds(outage, now()),
    })),
    total: countOutages(db, filter),
    ...page,
  };
}

/** Outages of one monitor. @throws {AppError} `not_found`. */
export function listMonitorOutages(
  deps: Pick<Deps, "db" | "now">,
  monitorId: string,
  page: Page,
): OutagePage {
  if (!selectMonitor(deps.db, monitorId)) throw notFound("Monitor", monitorId);
  return listOutages(deps, { monitorId, ...page });
}

/** Deletes old outages and gaps. */
export function sweepOutages({ db, now }: Pick<Deps, "db" | "now">): void {
  const before = new Date(now().getTime() - RETENTION_MS).toISOString();
  db.transaction(() => {
    deleteOutagesBefore(db, before);
    deleteMonitorTimesBefore(db, before);
  });
}

function durationSeconds({ startedAt, resolvedAt }: StoredOutage, now: Date): number {
  const endMs = resolvedAt === null ? now.getTime() : Date.parse(resolvedAt);
  return Math.max(0, Math.round((endMs - Date.parse(startedAt)) / 1000));
}
