/**
 * The `status_pages` table: pages that publish the state of services.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { Page } from "../../page.ts";

/** One page as stored. Times are ISO 8601, UTC. */
export interface StatusPage {
  id: string;
  /** Part of the page's address; unique, never changes. */
  slug: string;
  name: string;
  description: string;
  is_public: boolean;
  /** Lower case; unique. */
  custom_domain: string | null;
  theme: StatusPageTheme;
  created_at: string;
  updated_at: string;
}

export interface StatusPageTheme {
  /** `#rgb` or `#rrggbb`. */
  primary_color?: string | undefined;
}

const pages = table<StatusPage>("status_pages", {
  id: "value",
  slug: "value",
  name: "value",
  description: "value",
  is_public: "boolean",
  custom_domain: "value",
  theme: "json",
  created_at: "value",
  updated_at: "value",
});

export const {
  find: selectStatusPage,
  count: countStatusPages,
  insert: insertStatusPage,
  save: updateStatusPage,
  /** Deletes a page with its components, incidents, subscribers and notices. */
  delete: deleteStatusPage,
} = pages;

/** Newest first. */
export function selectStatusPages(db: Database, page: Page): StatusPage[] {
  return pages.select(db, "ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset", { ...page });
}

/** All public pages. */
export function selectPublicStatusPages(db: Database): StatusPage[] {
  return pages.select(db, "WHERE is_public = 1 ORDER BY created_at, id");
}

/** The page with a slug, or `undefined`. */
export function selectStatusPageBySlug(db: Database, slug: string): StatusPage | undefined {
  return pages.selectOne(db, "WHERE slug = :slug", { slug });
}

/** The id of the page that has a custom domain. */
export function selectStatusPageIdByDomain(db: Database, domain: string): string | undefined {
  return db.get<{ id: string }>(
    "SELECT id FROM status_pages WHERE custom_domain = :domain",
    { domain },
  )?.id;
}

/** The slugs equal to `base` or starting with `base-`, which a new slug could collide with. */
export function selectSlugsLike(db: Database, base: string): string[] {
  return db.all<{ slug: string }>(
    "SELECT slug FROM status_pages WHERE slug = :base OR slug GLOB :base || '-*'",
    { base },
  ).map(({ slug }) => slug);
}
