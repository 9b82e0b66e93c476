/**
 * What the world sees of the status pages. It is put together once and kept in memory until
 * something of it changes, so that reading costs no database: a page is read most while everything
 * else is in trouble.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  selectComponents,
} from "../../db/pro/status_page_components.ts";
import {
  selectActivePageIncidents,
  selectPageIncidentsResolvedAfter,
} from "../../db/pro/status_page_incidents.ts";
import {
  selectPublicStatusPages,
  type StatusPage,
  type StatusPageTheme,
} from "../../db/pro/status_pages.ts";
import type { Deps } from "../deps.ts";
import { type PageIncident, withUpdates } from "./status_page_updates.ts";

/** How long a resolved incident stays on the page, in milliseconds. */
const RECENT_MS = 14 * 24 * 60 * 60 * 1000;

/** Most incidents of a kind on the page; who has more has other worries. */
const INCIDENTS_MAX = 100;

/** One component as the world sees it. */
export interface PublicComponent {
  id: string;
  name: string;
  description: string;
  status: ComponentStatus;
  display_order: number;
  group_name: string | null;
}

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
  /** When something of the page changed last. */
  updated_at: string;
}

interface Snapshot {
  version: number;
  bySlug: Map<string, PublicPage>;
  slugByDomain: Map<string, string>;
  /** When the first incident is no longer recent. */
  untilMs: number;
}

/** What is known of each database; a process has one, a test has many. */
const snapshots = new WeakMap<StateDatabase, Snapshot | { version: number }>();

type SnapshotDeps = Pick<Deps, "db" | "now">;

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

/** To be called by whoever changes what a page shows; what is shown is then read anew. */
export function forgetPublicPages({ db }: Pick<Deps, "db">): void {
  const known = snapshots.get(db);
  if (known) snapshots.set(db, { version: known.version });
}

/** The worst of some statuses; `operational` where there is none. */
export function worstStatus(statuses: readonly ComponentStatus[]): ComponentStatus {
  return COMPONENT_STATUSES.findLast((status) => statuses.includes(status)) ?? "operational";
}

function snapshotOf({ db, now }: SnapshotDeps): Snapshot {
  const nowMs = now().getTime();
  const known = snapshots.get(db);
  if (known && "bySlug" in known && nowMs < known.untilMs) return known;
  const snapshot = read(db, nowMs, (known?.version ?? 0) + 1);
  snapshots.set(db, snapshot);
  return snapshot;
}

function read(db: StateDatabase, nowMs: number, version: number): Snapshot {
  const pages = selectPublicStatusPages(db);
  const bySlug = new Map(pages.map((page) => [page.slug, readPage(db, page, nowMs)]));
  const ends = [...bySlug.values()].flatMap(({ recent_incidents }) =>
    recent_incidents.map(({ resolved_at }) => Date.parse(resolved_at!))
  );
  return {
    version,
    bySlug,
    slugByDomain: new Map(
      pages.flatMap(({ custom_domain, slug }) => custom_domain ? [[custom_domain, slug]] : []),
    ),
    untilMs: ends.reduce((first, end) => Math.min(first, end), Infinity) + RECENT_MS,
  };
}

function readPage(db: StateDatabase, page: StatusPage, nowMs: number): PublicPage {
  const { id, name, slug, description, theme } = page;
  const components = selectComponents(db, id);
  const recentAfter = new Date(nowMs - RECENT_MS).toISOString();
  const active = withUpdates(db, selectActivePageIncidents(db, id, INCIDENTS_MAX));
  const recent = withUpdates(
    db,
    selectPageIncidentsResolvedAfter(db, id, recentAfter, INCIDENTS_MAX),
  );
  const changes = [page, ...components, ...active, ...recent].map(({ updated_at }) => updated_at);
  return {
    name,
    slug,
    description,
    theme,
    overall_status: worstStatus(components.map(({ status }) => status)),
    components: components.map(({ id, name, description, status, display_order, group_name }) => ({
      id,
      name,
      description,
      status,
      display_order,
      group_name,
    })),
    active_incidents: active.map(publicIncident),
    recent_incidents: recent.map(publicIncident),
    updated_at: changes.reduce((last, change) => change > last ? change : last),
  };
}

const publicIncident = ({ page_id: _, ...incident }: PageIncident): PublicIncident => incident;
