/**
 * The `brands` table: how the service looks to people; at most one of them is active.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One brand as stored. Times are ISO 8601, UTC. What a brand does not have is `null`. */
export interface Brand {
  id: string;
  /** The name of the brand itself, for administrators. */
  name: string;
  /** What people see as the name of the service. */
  app_name: string;
  logo_url: string | null;
  /** For dark backgrounds. */
  logo_dark_url: string | null;
  email_logo_url: string | null;
  /** `#rgb` or `#rrggbb`, like the other colors. */
  primary_color: string | null;
  secondary_color: string | null;
  accent_color: string | null;
  font_family: string | null;
  /** Checked by `services/enterprise/branding/css_sanitizer.ts`. */
  custom_css: string | null;
  is_active: boolean;
  created_at: string;
  updated_at: string;
}

const COLUMNS = `
  id, name, app_name, logo_url, logo_dark_url, email_logo_url, primary_color, secondary_color,
  accent_color, font_family, custom_css, is_active, created_at, updated_at`;

type Row = Omit<Brand, "is_active"> & { is_active: number };

const fromRow = (row: Row): Brand => ({ ...row, is_active: row.is_active === 1 });
const toRow = (brand: Brand) => ({ ...brand, is_active: Number(brand.is_active) });

/** Newest first. */
export function selectBrands(db: Database): Brand[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM brands ORDER BY created_at DESC, id`).map(fromRow);
}

/** One brand, or `undefined` when the id is unknown. */
export function selectBrand(db: Database, id: string): Brand | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM brands WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** The active brand, or `undefined` when none is. */
export function selectActiveBrand(db: Database): Brand | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM brands WHERE is_active = 1`);
  return row && fromRow(row);
}

export function countBrands(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM brands")!.n;
}

export function insertBrand(db: Database, brand: Brand): void {
  db.run(
    `INSERT INTO brands (${COLUMNS})
     VALUES (:id, :name, :app_name, :logo_url, :logo_dark_url, :email_logo_url, :primary_color,
       :secondary_color, :accent_color, :font_family, :custom_css, :is_active, :created_at,
       :updated_at)`,
    toRow(brand),
  );
}

/** Stores a changed brand, except whether it is active. */
export function updateBrand(db: Database, brand: Brand): void {
  const { created_at: _, is_active: __, ...row } = toRow(brand);
  db.run(
    `UPDATE brands
     SET name = :name, app_name = :app_name, logo_url = :logo_url, logo_dark_url = :logo_dark_url,
       email_logo_url = :email_logo_url, primary_color = :primary_color,
       secondary_color = :secondary_color, accent_color = :accent_color,
       font_family = :font_family, custom_css = :custom_css, updated_at = :updated_at
     WHERE id = :id`,
    row,
  );
}

/** Makes one brand the only active one. To be called in a transaction. */
export function updateActiveBrand(db: Database, id: string): void {
  db.run("UPDATE brands SET is_active = 0 WHERE is_active = 1");
  db.run("UPDATE brands SET is_active = 1 WHERE id = :id", { id });
}

/** @returns Whether the id was known. */
export function deleteBrand(db: Database, id: string): boolean {
  return db.run("DELETE FROM brands WHERE id = :id", { id }) > 0;
}
