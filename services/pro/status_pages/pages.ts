/**
 * Status pages: what is told to the world, under which name and address.
 *
 * @module
 */

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
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import { DOMAIN_RULE, normalDomain } from "./custom_domain.ts";
import { existingPage } from "./existing_page.ts";
import { forgetPublicPages, type ShownComponent, shownComponents, worstStatus } from "./public.ts";
import { freeSlug, slugOf } from "./slug.ts";
import { forgetMessagesOfPage } from "./subscribers.ts";
import { type PageIncident, withUpdates } from "./updates.ts";

export type { StatusPage, StatusPageTheme };

/** Most incidents that are shown with a page. */
const ACTIVE_MAX = 100;

export interface NewStatusPage {
  name: string;
  description: string;
  is_public: boolean;
  custom_domain: string | null;
  theme: StatusPageTheme;
}

/** What an update may say; what it leaves out stays. */
export type StatusPageChange = {
  [Field in keyof NewStatusPage]?: NewStatusPage[Field] | undefined;
};

/** A page with what is on it. */
export interface StatusPageDetail extends StatusPage {
  /** The worst of the components. */
  overall_status: ComponentStatus;
  components: ShownComponent[];
  /** Not resolved, newest first. */
  active_incidents: PageIncident[];
}

/** Newest first. */
export function listStatusPages(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { pages: StatusPage[]; total: number; limit: number; offset: number } {
  const pages = selectStatusPages(db, { limit, offset });
  return { pages, total: countStatusPages(db), limit, offset };
}

/** @throws {AppError} `not_found`. */
export function getStatusPage({ db }: Pick<Deps, "db">, id: string): StatusPageDetail {
  const page = existingPage(db, id);
  const components = shownComponents(db, id);
  return {
    ...page,
    overall_status: worstStatus(components.map(({ shown_status }) => shown_status)),
    components,
    active_incidents: withUpdates(db, selectActivePageIncidents(db, id, ACTIVE_MAX)),
  };
}

/**
 * Stores a new page under a slug made from its name.
 *
 * @throws {AppError} `invalid` for a domain that is none; `conflict` for one that another page has.
 * @throws {LimitError} When the edition allows no more pages.
 */
export function createStatusPage(
  deps: Pick<Deps, "db" | "license" | "now" | "log">,
  { custom_domain, ...page }: NewStatusPage,
): StatusPage {
  const { db, license, now, log } = deps;
  const domain = checkedDomain(custom_domain);
  assertBelowLimit(license, "status_pages", countStatusPages(db));
  const id = crypto.randomUUID();
  assertDomainFree(db, domain, id);
  const base = slugOf(page.name);
  const at = now().toISOString();
  insertStatusPage(db, {
    ...page,
    id,
    slug: freeSlug(base, selectSlugsLike(db, base)),
    custom_domain: domain,
    created_at: at,
    updated_at: at,
  });
  forgetPublicPages(deps);
  log.info("status page created", { pageId: id });
  return existingPage(db, id);
}

/**
 * Changes what is given and keeps the rest, the slug in any case: links to the page go on working.
 *
 * @throws {AppError} `not_found`; `invalid` and `conflict` as for a new one.
 */
export function changeStatusPage(
  deps: Pick<Deps, "db" | "now" | "log">,
  id: string,
  change: StatusPageChange,
): StatusPage {
  const { db, now, log } = deps;
  const page = existingPage(db, id);
  const domain = change.custom_domain === undefined
    ? page.custom_domain
    : checkedDomain(change.custom_domain);
  assertDomainFree(db, domain, id);
  updateStatusPage(db, {
    ...page,
    name: change.name ?? page.name,
    description: change.description ?? page.description,
    is_public: change.is_public ?? page.is_public,
    custom_domain: domain,
    theme: change.theme ?? page.theme,
    updated_at: now().toISOString(),
  });
  forgetPublicPages(deps);
  log.info("status page changed", { pageId: id });
  return existingPage(db, id);
}

/**
 * Deletes a page with its components, incidents and subscribers, and with what waits for these.
 *
 * @throws {AppError} `not_found`.
 */
export function removeStatusPage(deps: Pick<Deps, "db" | "log">, id: string): void {
  const { db, log } = deps;
  existingPage(db, id);
  db.transaction(() => {
    forgetMessagesOfPage(deps, id);
    deleteStatusPage(db, id);
  });
  forgetPublicPages(deps);
  log.info("status page deleted", { pageId: id });
}

/** @throws {AppError} `invalid`. */
function checkedDomain(text: string | null): string | null {
  if (text === null || text === "") return null;
  const domain = normalDomain(text);
  if (domain === undefined) throw new AppError("invalid", `body.custom_domain: ${DOMAIN_RULE}`);
  return domain;
}

function assertDomainFree(db: Deps["db"], domain: string | null, id: string): void {
  if (domain === null) return;
  const owner = selectStatusPageIdByDomain(db, domain);
  if (owner !== undefined && owner !== id) {
    throw new AppError("conflict", `Another status page has the domain ${domain}`);
  }
}
