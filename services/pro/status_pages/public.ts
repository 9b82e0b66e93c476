/**
 * Public status pages. They are cached until something on them changes, so that many readers
 * during an outage do not load the database.
 *
 * @module
 */

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

/** Time for which a resolved incident is shown, in milliseconds. */
const RECENT_MS = 14 * 24 * 60 * 60 * 1000;

/** Time for which calculated uptime is cached, in milliseconds. Outages are shown immediately. */
const UPTIME_TTL_MS = 5 * 60 * 1000;

/** Limit of active and of resolved incidents on a page. */
const INCIDENTS_MAX = 100;

/** A component with its status on the page, which is its own unless it is under maintenance. */
export type PageComponent = StatusPageComponent & { shown_status: ComponentStatus };

export interface PublicComponent {
  id: string;
  name: string;
  description: string;
  status: ComponentStatus;
  display_order: number;
  group_name: string | null;
  /** `null` unless the component follows a monitor. */
  uptime: ComponentUptime | null;
}

export type PublicMaintenance = Omit<StatusPageMaintenance, "page_id">;

export type PublicIncident = Omit<PageIncident, "page_id">;

export interface PublicPage {
  name: string;
  slug: string;
  description: string;
  theme: StatusPageTheme;
  /** The worst status of the components. */
  overall_status: ComponentStatus;
  /** In display order. */
  components: PublicComponent[];
  /** Not resolved, newest first. */
  active_incidents: PublicIncident[];
  /** Resolved in the last 14 days, latest first. */
  recent_incidents: PublicIncident[];
  /** Planned or in progress, earliest start first. */
  maintenances: PublicMaintenance[];
  /** When anything on the page last changed. */
  updated_at: string;
}

interface PublicPages {
  bySlug: Map<string, PublicPage>;
  slugByDomain: Map<string, string>;
}

type PublicDeps = Pick<Deps, "db" | "metrics" | "now" | "statusPages">;

/** Finds a page by its slug; `undefined` if it does not exist or is not public. */
export function publicPage(deps: PublicDeps, slug: string): PublicPage | undefined {
  return readPages(deps).value.bySlug.get(slug);
}

/**
 * Finds the page for a `Host` header, which may include a port; `undefined` if there is none or it
 * is not public.
 */
export function pageByDomain(deps: PublicDeps, host: string): PublicPage | undefined {
  const { bySlug, slugByDomain } = readPages(deps).value;
  if (slugByDomain.size === 0) return undefined;
  const slug = slugByDomain.get(host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, ""));
  return slug === undefined ? undefined : bySlug.get(slug);
}

/** The version of the cached pages, for an entity tag. */
export function publicPagesVersion(deps: PublicDeps): string {
  return String(readPages(deps).version);
}

/** The worst of the statuses; `operational` for an empty list. */
export function worstStatus(statuses: readonly ComponentStatus[]): ComponentStatus {
  return COMPONENT_STATUSES.findLast((status) => statuses.includes(status)) ?? "operational";
}

/** The components of a page with their displayed status, in display order. */
export function loadComponents(db: Deps["db"], pageId: string): PageComponent[] {
  const underMaintenance = selectComponentsUnderMaintenance(db, pageId);
  return selectComponents(db, pageId).map((component) => ({
    ...component,
    shown_status: underMaintenance.has(component.id) ? "under_maintenance" : component.status,
  }));
}

function readPages(deps: PublicDeps): { value: PublicPages; version: number } {
  const nowMs = deps.now().getTime();
  return deps.statusPages.read(nowMs, () => buildPages(deps, nowMs));
}

function buildPages(deps: PublicDeps, nowMs: number): { value: PublicPages; expiresMs: number } {
  const pages = selectPublicStatusPages(deps.db);
  const bySlug = new Map(pages.map((page) => [page.slug, buildPage(deps, page, nowMs)]));
  const hasUptime = [...bySlug.values()].some(({ components }) =>
    components.some(({ uptime }) => uptime)
  );
  const ends = [...bySlug.values()].flatMap(({ recent_incidents }) =>
    recent_incidents.map(({ resolved_at }) => Date.parse(resolved_at!))
  );
  const slugByDomain = new Map(
    pages.flatMap(({ custom_domain, slug }) => custom_domain ? [[custom_domain, slug]] : []),
  );
  return {
    value: { bySlug, slugByDomain },
    expiresMs: Math.min(
      ends.reduce((first, end) => Math.min(first, end), Infinity) + RECENT_MS,
      hasUptime ? nowMs + UPTIME_TTL_MS : Infinity,
    ),
  };
}

function buildPage(deps: PublicDeps, page: StatusPage, nowMs: number): PublicPage {
  const { db } = deps;
  const { id, name, slug, description, theme } = page;
  const components = loadComponents(db, id);
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
