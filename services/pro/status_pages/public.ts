/**
 * What the world sees of the status pages. It is put together once and kept in memory until
 * something of it changes, so that reading costs no database: a page is read most while everything
 * else is in trouble.
 *
 * @module
 */

import type { StateDatabase } from "../../../db/database.ts";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  selectComponents,
  selectComponentsUnderMaintenance,
  type StatusPageComponent,
} from "../../../db/pro/status_pages/components.ts";
import {
  selectActivePageIncidents,
  selectPageIncidentsResolvedAfter,
} from "../../../db/pro/status_pages/incidents.ts";
import {
  selectOpenMaintenances,
  type StatusPageMaintenance,
} from "../../../db/pro/status_pages/maintenances.ts";
import {
  selectPublicStatusPages,
  type StatusPage,
  type StatusPageTheme,
} from "../../../db/pro/status_pages/pages.ts";
import type { Deps } from "../../deps.ts";
import { type PageIncident, withUpdates } from "./updates.ts";
import { type ComponentUptime, uptimeOfMonitors } from "./uptime.ts";

/** How long a resolved incident stays on the page, in milliseconds. */
const RECENT_MS = 14 * 24 * 60 * 60 * 1000;

/** How long uptime that was computed is shown, in milliseconds; outages are shown at once. */
const UPTIME_FRESH_MS = 5 * 60 * 1000;

/** Most incidents of a kind on the page. */
const INCIDENTS_MAX = 100;

/** A component with the status that the page shows: its own, unless it is under maintenance. */
export type ShownComponent = StatusPageComponent & { shown_status: ComponentStatus };

/** One component as the world sees it. */
export interface PublicComponent {
  id: string;
  name: string;
  description: string;
  status: ComponentStatus;
  display_order: number;
  group_name: string | null;
  /** `null` unless it follows a monitor. */
  uptime: ComponentUptime | null;
}

/** One maintenance as the world sees it. */
export type PublicMaintenance = Omit<StatusPageMaintenance, "page_id">;

/** One incident as the world sees it. */
export type PublicIncident = Omit<PageIncident, "page_id">;

/** A page as the world sees it. */
export interface PublicPage {
  name: string;
  slug: string;
  description: string;
  theme: StatusPageTheme;
  /** The worst of the components. */
  overall_status: ComponentStatus;
  /** In the order in which they are shown. */
  components: PublicComponent[];
  /** Not resolved, newest first. */
  active_incidents: PublicIncident[];
  /** Resolved in the last 14 days, the last resolved first. */
  recent_incidents: PublicIncident[];
  /** Planned or in progress, the first to start first. */
  maintenances: PublicMaintenance[];
  /** When something of the page changed last. */
  updated_at: string;
}

interface Snapshot {
  version: number;
  bySlug: Map<string, PublicPage>;
  slugByDomain: Map<string, string>;
  /** When an incident is no longer recent, or uptime is to be computed again. */
  untilMs: number;
}

/** What is known of each database; a process has one, a test has many. */
const snapshots = new WeakMap<StateDatabase, Snapshot | { version: number }>();

type SnapshotDeps = Pick<Deps, "db" | "metrics" | "now">;

/** The page with a slug; `undefined` when there is none or it is not public. */
export function publicPage(deps: SnapshotDeps, slug: string): PublicPage | undefined {
  return snapshotOf(deps).bySlug.get(slug);
}

/**
 * The page that is served for a `Host` header, which may have a port; `undefined` when there is
 * none or it is not public.
 */
export function pageByDomain(deps: SnapshotDeps, host: string): PublicPage | undefined {
  const { bySlug, slugByDomain } = snapshotOf(deps);
  if (slugByDomain.size === 0) return undefined;
  const slug = slugByDomain.get(host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, ""));
  return slug === undefined ? undefined : bySlug.get(slug);
}

/** Names the state that all public pages are made of; another state has another name. */
export function publicPagesVersion(deps: SnapshotDeps): string {
  return String(snapshotOf(deps).version);
}

/** To be called after a change of what a page shows, which is then read again. */
export function forgetPublicPages({ db }: Pick<Deps, "db">): void {
  const known = snapshots.get(db);
  if (known) snapshots.set(db, { version: known.version });
}

/** The worst of some statuses; `operational` where there is none. */
export function worstStatus(statuses: readonly ComponentStatus[]): ComponentStatus {
  return COMPONENT_STATUSES.findLast((status) => statuses.includes(status)) ?? "operational";
}

/** The components of a page with the status that it shows of each, in their order. */
export function shownComponents(db: StateDatabase, pageId: string): ShownComponent[] {
  const covered = selectComponentsUnderMaintenance(db, pageId);
  return selectComponents(db, pageId).map((component) => ({
    ...component,
    shown_status: covered.has(component.id) ? "under_maintenance" : component.status,
  }));
}

function snapshotOf(deps: SnapshotDeps): Snapshot {
  const { db } = deps;
  const nowMs = deps.now().getTime();
  const known = snapshots.get(db);
  if (known && "bySlug" in known && nowMs < known.untilMs) return known;
  const snapshot = read(deps, nowMs, (known?.version ?? 0) + 1);
  snapshots.set(db, snapshot);
  return snapshot;
}

function read(deps: SnapshotDeps, nowMs: number, version: number): Snapshot {
  const pages = selectPublicStatusPages(deps.db);
  const bySlug = new Map(pages.map((page) => [page.slug, readPage(deps, page, nowMs)]));
  const hasUptime = [...bySlug.values()].some(({ components }) =>
    components.some(({ uptime }) => uptime)
  );
  const ends = [...bySlug.values()].flatMap(({ recent_incidents }) =>
    recent_incidents.map(({ resolved_at }) => Date.parse(resolved_at!))
  );
  return {
    version,
    bySlug,
    slugByDomain: new Map(
      pages.flatMap(({ custom_domain, slug }) => custom_domain ? [[custom_domain, slug]] : []),
    ),
    untilMs: Math.min(
      ends.reduce((first, end) => Math.min(first, end), Infinity) + RECENT_MS,
      hasUptime ? nowMs + UPTIME_FRESH_MS : Infinity,
    ),
  };
}

function readPage(deps: SnapshotDeps, page: StatusPage, nowMs: number): PublicPage {
  const { db } = deps;
  const { id, name, slug, description, theme } = page;
  const components = shownComponents(db, id);
  const uptimes = uptimeOfMonitors(
    deps,
    components.flatMap(({ monitor_id }) => monitor_id ?? []),
    nowMs,
  );
  const maintenances = selectOpenMaintenances(db, id);
  const recentAfter = new Date(nowMs - RECENT_MS).toISOString();
  const active = withUpdates(db, selectActivePageIncidents(db, id, INCIDENTS_MAX));
  const recent = withUpdates(
    db,
    selectPageIncidentsResolvedAfter(db, id, recentAfter, INCIDENTS_MAX),
  );
  const changes = [page, ...components, ...active, ...recent, ...maintenances]
    .map(({ updated_at }) => updated_at);
  return {
    name,
    slug,
    description,
    theme,
    overall_status: worstStatus(components.map(({ shown_status }) => shown_status)),
    components: components.map((component) => ({
      id: component.id,
      name: component.name,
      description: component.description,
      status: component.shown_status,
      display_order: component.display_order,
      group_name: component.group_name,
      uptime: component.monitor_id === null ? null : uptimes.get(component.monitor_id) ?? null,
    })),
    active_incidents: active.map(withoutPage),
    recent_incidents: recent.map(withoutPage),
    maintenances: maintenances.map(withoutPage),
    updated_at: changes.reduce((last, change) => change > last ? change : last),
  };
}

const withoutPage = <Item extends { page_id: string }>(
  { page_id: _, ...item }: Item,
): Omit<Item, "page_id"> => item;
