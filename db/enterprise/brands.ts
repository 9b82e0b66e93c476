/**
 * The `brands` table: name, logos and colors that users see; at most one brand is active.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** One brand as stored. Times are ISO 8601, UTC. */
export interface Brand {
  id: string;
  /** The name of the brand, shown to administrators. */
  name: string;
  /** The name of the service, shown to all users. */
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

const brands = table<Brand>("brands", {
  id: "value",
  name: "value",
  app_name: "value",
  logo_url: "value",
  logo_dark_url: "value",
  email_logo_url: "value",
  primary_color: "value",
  secondary_color: "value",
  accent_color: "value",
  font_family: "value",
  custom_css: "value",
  is_active: "boolean",
  created_at: "value",
  updated_at: "value",
});

export const {
  find: selectBrand,
  count: countBrands,
  insert: insertBrand,
  delete: deleteBrand,
} = brands;

/** Newest first. */
export function selectBrands(db: Database): Brand[] {
  return brands.select(db, "ORDER BY created_at DESC, id");
}

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
