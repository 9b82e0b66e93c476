/**
 * Brands: names, logos, colors and style sheets for pages and mails. At most one is active.
 *
 * @module
 */

import {
  type Brand,
  countBrands,
  deleteBrand,
  insertBrand,
  selectActiveBrand,
  selectBrand,
  selectBrands,
  updateActiveBrand,
  updateBrand,
} from "../../../db/enterprise/brands.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound, tooMany } from "../../errors.ts";
import { findForbiddenCss } from "./css_sanitizer.ts";

export const BRANDS_MAX = 100;

export const LOGO_URL_MAX = 2_048;

type NewBrand = Omit<Brand, "id" | "is_active" | "created_at" | "updated_at">;

type BrandDeps = Pick<Deps, "db" | "brand" | "now" | "log">;

/** Lists brands, newest first, without their style sheets, which may be long. */
export function listBrands({ db }: Pick<Deps, "db">): { brands: Omit<Brand, "custom_css">[] } {
  return { brands: selectBrands(db).map(({ custom_css: _, ...brand }) => brand) };
}

/** Returns the active brand, or `null`. */
export function getActiveBrand({ db }: Pick<Deps, "db">): { brand: Brand | null } {
  return { brand: selectActiveBrand(db) ?? null };
}

/** @throws {AppError} `not_found`. */
export function getBrand({ db }: Pick<Deps, "db">, id: string): Brand {
  return requireFound(selectBrand(db, id), "Brand", id);
}

/**
 * Stores a new, inactive brand.
 *
 * @throws {AppError} `invalid` for a logo that is not an HTTPS URL and for a forbidden style sheet;
 * `conflict` at the limit of {@linkcode BRANDS_MAX}.
 */
export function createBrand(deps: Omit<BrandDeps, "brand">, input: NewBrand): Brand {
  const { db, now, log } = deps;
  assertSafe(input);
  if (countBrands(db) >= BRANDS_MAX) throw tooMany("brands", BRANDS_MAX);
  const at = now().toISOString();
  const id = crypto.randomUUID();
  insertBrand(db, { ...input, id, is_active: false, created_at: at, updated_at: at });
  log.info("brand created", { brandId: id });
  return getBrand(deps, id);
}

/**
 * Changes the given fields of a brand. A change of the active brand is visible immediately.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one.
 */
export function changeBrand(deps: BrandDeps, id: string, change: Change<NewBrand>): Brand {
  const { db, now, log } = deps;
  const brand = getBrand(deps, id);
  assertSafe(change);
  updateBrand(db, { ...applyChange(brand, change), updated_at: now().toISOString() });
  showActiveBrand(deps);
  log.info("brand changed", { brandId: id });
  return getBrand(deps, id);
}

/** Deletes a brand. If it was active, no brand is. @throws {AppError} `not_found`. */
export function removeBrand(deps: Pick<BrandDeps, "db" | "brand" | "log">, id: string): void {
  const { db, log } = deps;
  if (!deleteBrand(db, id)) throw notFound("Brand", id);
  showActiveBrand(deps);
  log.info("brand deleted", { brandId: id });
}

/** Makes a brand the only active one. @throws {AppError} `not_found`. */
export function activateBrand(deps: Pick<BrandDeps, "db" | "brand" | "log">, id: string): Brand {
  const { db, log } = deps;
  getBrand(deps, id);
  db.transaction(() => updateActiveBrand(db, id));
  showActiveBrand(deps);
  log.info("brand activated", { brandId: id });
  return getBrand(deps, id);
}

/** Publishes the active brand to pages and mails. */
export function showActiveBrand({ db, brand }: Pick<Deps, "db" | "brand">): void {
  brand.put(selectActiveBrand(db));
}

const LOGOS = ["logo_url", "logo_dark_url", "email_logo_url"] as const;

/** @throws {AppError} `invalid`. */
function assertSafe(brand: Change<NewBrand>): void {
  for (const field of LOGOS) {
    const fault = brand[field] && logoFault(brand[field]);
    if (fault) throw new AppError("invalid", `body.${field}: ${fault}`);
  }
  const forbidden = brand.custom_css && findForbiddenCss(brand.custom_css);
  if (forbidden) throw new AppError("invalid", `body.custom_css: must not contain ${forbidden}`);
}

function logoFault(text: string): string | undefined {
  // URL parsers repair invalid URLs in different ways, so that these are refused.
  const url = /^https:\/\/[^\s"'<>\\^`{|}\p{C}]+$/iu.test(text) ? URL.parse(text) : null;
  // A policy of a page would take a `*` in the host for any host.
  if (!url || url.protocol !== "https:" || url.hostname.includes("*")) {
    return "must be an https:// URL";
  }
  if (url.username || url.password) return "must not have a user or password";
  return undefined;
}
