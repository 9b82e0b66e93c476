/**
 * The `brands` table: name, logos and colors that users see; at most one brand is active.
 *
 * @module
 */

import { boolean, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

const brands = table("brands", {
  id: text(),
  /** The name of the brand, shown to administrators. */
  name: text(),
  /** The name of the service, shown to all users. */
  app_name: text(),
  logo_url: text<string | null>(),
  /** For dark backgrounds. */
  logo_dark_url: text<string | null>(),
  email_logo_url: text<string | null>(),
  /** `#rgb` or `#rrggbb`, like the other colors. */
  primary_color: text<string | null>(),
  secondary_color: text<string | null>(),
  accent_color: text<string | null>(),
  font_family: text<string | null>(),
  /** Checked by `services/enterprise/branding/css_sanitizer.ts`. */
  custom_css: text<string | null>(),
  is_active: boolean(),
  created_at: text(),
  updated_at: text(),
}, { order: "created_at DESC, id" });

/** One brand as stored. Times are ISO 8601, UTC. */
export type Brand = Row<typeof brands>;

export const {
  find: selectBrand,
  count: countBrands,
  insert: insertBrand,
  delete: deleteBrand,
  /** Newest first. */
  all: selectBrands,
} = brands;

/** The active brand, or `undefined`. */
export function selectActiveBrand(db: Database): Brand | undefined {
  return brands.selectOne(db, "WHERE is_active = 1");
}

/** Stores everything but whether the brand is active. */
export function updateBrand(db: Database, { is_active: _, ...brand }: Brand): void {
  brands.update(db, brand.id, brand);
}

/** Makes one brand the only active one. Must be called in a transaction. */
export function updateActiveBrand(db: Database, id: string): void {
  db.run("UPDATE brands SET is_active = 0 WHERE is_active = 1");
  db.run("UPDATE brands SET is_active = 1 WHERE id = :id", { id });
}
