/**
 * The `status_pages` table: what is told to the world, under which name and address.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One page as stored. Times are ISO 8601, UTC. */
export interface StatusPage {
  id: string;
  /** Part of the page's address; unique, and the same for as long as the page exists. */
  slug: string;
  name: string;
  description: string;
  is_public: boolean;
  /** In lower case; unique. */
  custom_domain: string | null;
  theme: StatusPageTheme;
  created_at: string;
  updated_at: string;
}

export interface StatusPageTheme {
  /** `#rgb` or `#rrggbb`. */
  primary_color?: string | undefined;
}

const COLUMNS = `
  id, slug, name, description, is_public, custom_domain, theme, created_at, updated_at`;

type Row = Omit<StatusPage, "is_public" | "theme"> & { is_public: number; theme: string };

const fromRow = (row: Row): StatusPage => ({
  ...row,
  is_public: row.is_public === 1,
  theme: JSON.parse(row.theme),
});

const toRow = (page: StatusPage) => ({
  ...page,
  is_public: Number(page.is_public),
  theme: JSON.stringify(page.theme),
});

/** Newest first. */
export function selectStatusPages(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): StatusPage[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM status_pages ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset`,
    { limit, offset },
  ).map(fromRow);
}

/** Every page that is public. */
export function selectPublicStatusPages(db: Database): StatusPage[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM status_pages WHERE is_public = 1 ORDER BY created_at, id`,
  ).map(fromRow);
}

/** One page, or `undefined` when the id is unknown. */
export function selectStatusPage(db: Database, id: string): StatusPage | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM status_pages WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** The page with a slug, or `undefined`. */
export function selectStatusPageBySlug(db: Database, slug: string): StatusPage | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM status_pages WHERE slug = :slug`, { slug });
  return row && fromRow(row);
}

/** The id of the page that has a custom domain. */
export function selectStatusPageIdByDomain(db: Database, domain: string): string | undefined {
  return db.get<{ id: string }>(
    "SELECT id FROM status_pages WHERE custom_domain = :domain",
    { domain },
  )?.id;
}

/** The slugs `base`, `base-2`, `base-x`: those that a new slug could be equal to. */
export function selectSlugsLike(db: Database, base: string): string[] {
  return db.all<{ slug: string }>(
    "SELECT slug FROM status_pages WHERE slug = :base OR slug GLOB :base || '-*'",
    { base },
  ).map(({ slug }) => slug);
}

export function countStatusPages(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM status_pages")!.n;
}

export function insertStatusPage(db: Database, page: StatusPage): void {
  db.run(
    `INSERT INTO status_pages (${COLUMNS})
     VALUES (:id, :slug, :name, :description, :is_public, :custom_domain, :theme, :created_at,
       :updated_at)`,
    toRow(page),
  );
}

export function updateStatusPage(db: Database, page: StatusPage): void {
  const { slug: _, created_at: __, ...row } = toRow(page);
  db.run(
    `UPDATE status_pages
     SET name = :name, description = :description, is_public = :is_public,
       custom_domain = :custom_domain, theme = :theme, updated_at = :updated_at
     WHERE id = :id`,
    row,
  );
}

/** Deletes a page with its components, incidents, subscribers and notices. */
export function deleteStatusPage(db: Database, id: string): void {
  db.run("DELETE FROM status_pages WHERE id = :id", { id });
}
