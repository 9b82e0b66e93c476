/** Status pages: name, theme, slug and custom domain. @module */

import type { Page, Paged } from "../../../db/page.ts";
import type { ComponentStatus } from "../../../db/pro/status_pages/components.ts";
import { selectActivePageIncidents } from "../../../db/pro/status_pages/incidents.ts";
import {
  countStatusPages,
  deleteStatusPage,
  insertStatusPage,
  selectSlugsLike,
  selectStatusPageIdByDomain,
  selectStatusPages,
  type StatusPage,
  type StatusPageTheme,
  updateStatusPage,
} from "../../../db/pro/status_pages/pages.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import { hostOf, isDashboardHost } from "../../access/sign_in/dashboard_hosts.ts";
import { DOMAIN_RULE, normalizeDomain } from "./custom_domain.ts";
import { recordLinkBase } from "./link_base.ts";
import { requirePage } from "./page_lookup.ts";
import { loadComponents, type PageComponent, worstStatus } from "./public.ts";
import { createSlug, findFreeSlug } from "./slug.ts";
import { deleteMessagesOfPage } from "./subscribers.ts";
import { type PageIncident, withUpdates } from "./updates.ts";

/** Limit of incidents returned with a page. */
const ACTIVE_MAX = 100;

interface NewStatusPage {
  name: string;
  description: string;
  is_public: boolean;
  custom_domain: string | null;
  theme: StatusPageTheme;
}

/** A page with its components and active incidents. */
interface StatusPageDetail extends StatusPage {
  /** The worst status of the components. */
  overall_status: ComponentStatus;
  components: PageComponent[];
  /** Not resolved, newest first. */
  active_incidents: PageIncident[];
}

/** Newest first. */
export function listStatusPages(
  { db }: Pick<Deps, "db">,
  page: Page,
): { pages: StatusPage[] } & Paged {
  const pages = selectStatusPages(db, page);
  return { pages, total: countStatusPages(db), ...page };
}

/** @throws {AppError} `not_found`. */
export function getStatusPage({ db }: Pick<Deps, "db">, id: string): StatusPageDetail {
  const page = requirePage(db, id);
  const components = loadComponents(db, id);
  return {
    ...page,
    overall_status: worstStatus(components.map(({ shown_status }) => shown_status)),
    components,
    active_incidents: withUpdates(db, selectActivePageIncidents(db, id, ACTIVE_MAX)),
  };
}

type PageDeps = Pick<Deps, "config" | "db" | "now" | "log" | "statusPages">;

/**
 * Stores a new page with a slug created from its name.
 *
 * @param base Base URL of the admin's request.
 * @throws {AppError} `invalid` for an invalid domain; `conflict` for the domain of another page or
 * the dashboard.
 * @throws {LimitError} When the edition allows no more pages.
 */
export function createStatusPage(
  deps: PageDeps & Pick<Deps, "license">,
  { custom_domain, ...page }: NewStatusPage,
  base: string,
): StatusPage {
  const { db, license, now, log, statusPages } = deps;
  const domain = parseDomain(custom_domain);
  assertBelowLimit(license, "status_pages", countStatusPages(db));
  const id = crypto.randomUUID();
  assertDomainFree(deps, domain, { id, base });
  recordLinkBase(deps, base);
  const slug = createSlug(page.name);
  const at = now().toISOString();
  insertStatusPage(db, {
    ...page,
    id,
    slug: findFreeSlug(slug, selectSlugsLike(db, slug)),
    custom_domain: domain,
    created_at: at,
    updated_at: at,
  });
  statusPages.clear();
  log.info("status page created", { pageId: id });
  return requirePage(db, id);
}

/**
 * Changes the given fields. The slug never changes, so that links to the page keep working.
 *
 * @throws {AppError} `not_found`; `invalid` and `conflict` as for a new one.
 */
export function changeStatusPage(
  deps: PageDeps,
  id: string,
  change: Change<NewStatusPage>,
  base: string,
): StatusPage {
  const { db, now, log, statusPages } = deps;
  const page = requirePage(db, id);
  const domain = change.custom_domain === undefined
    ? page.custom_domain
    : parseDomain(change.custom_domain);
  if (domain !== page.custom_domain) assertDomainFree(deps, domain, { id, base });
  recordLinkBase(deps, base);
  updateStatusPage(db, {
    ...applyChange(page, change),
    custom_domain: domain,
    updated_at: now().toISOString(),
  });
  statusPages.clear();
  log.info("status page changed", { pageId: id });
  return requirePage(db, id);
}

/**
 * Deletes a page with its components, incidents, subscribers and queued messages.
 *
 * @throws {AppError} `not_found`.
 */
export function removeStatusPage(
  { db, log, statusPages }: Pick<Deps, "db" | "log" | "statusPages">,
  id: string,
): void {
  requirePage(db, id);
  db.transaction(() => {
    deleteMessagesOfPage(db, id);
    deleteStatusPage(db, id);
  });
  statusPages.clear();
  log.info("status page deleted", { pageId: id });
}

/** @throws {AppError} `invalid`. */
function parseDomain(text: string | null): string | null {
  if (text === null || text === "") return null;
  const domain = normalizeDomain(text);
  if (domain === undefined) throw new AppError("invalid", `body.custom_domain: ${DOMAIN_RULE}`);
  return domain;
}

function assertDomainFree(
  deps: Pick<Deps, "config" | "db">,
  domain: string | null,
  { id, base }: { id: string; base: string },
): void {
  if (domain === null) return;
  // A page takes the place of the dashboard's `/`.
  if (hostOf(base) === domain || isDashboardHost(deps, domain)) {
    throw new AppError("conflict", `The dashboard uses the domain ${domain}; use another one`);
  }
  const owner = selectStatusPageIdByDomain(deps.db, domain);
  if (owner !== undefined && owner !== id) {
    throw new AppError("conflict", `Another status page uses the domain ${domain}`);
  }
}
