/** The `status_pages` table: pages that publish the state of services. @module */

import { boolean, json, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

export interface StatusPageTheme {
  /** `#rgb` or `#rrggbb`. */
  primary_color?: string | undefined;
}

const pages = table("status_pages", {
  id: text(),
  /** Part of the page's address; unique, never changes. */
  slug: text(),
  name: text(),
  description: text(),
  is_public: boolean(),
  /** Lower case; unique. */
  custom_domain: text<string | null>(),
  theme: json<StatusPageTheme>(),
  created_at: text(),
  updated_at: text(),
}, { order: "created_at DESC, id" });

/** One page as stored. Times are ISO 8601, UTC. */
export type StatusPage = Row<typeof pages>;

export const {
  find: selectStatusPage,
  count: countStatusPages,
  insert: insertStatusPage,
  save: updateStatusPage,
  /** Deletes a page with its components, incidents, subscribers and notices. */
  delete: deleteStatusPage,
  /** Newest first. */
  page: selectStatusPages,
} = pages;

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
