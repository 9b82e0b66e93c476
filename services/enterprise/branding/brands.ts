/**
 * Brands: how the service looks to people. At most one is active.
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
import { AppError, notFound, tooMany } from "../../errors.ts";
import { hostilePartOf } from "./css_sanitizer.ts";

export type { Brand };

/** Most brands. */
export const BRANDS_MAX = 100;

/** Longest address of a logo. */
export const LOGO_URL_MAX = 2_048;

/** What an administrator says of a brand. */
export type NewBrand = Omit<Brand, "id" | "is_active" | "created_at" | "updated_at">;

type BrandDeps = Pick<Deps, "db" | "brand" | "now" | "log">;

/** Newest first, without their style sheets, which may be long. */
export function listBrands(
  { db }: Pick<Deps, "db">,
): { brands: Omit<Brand, "custom_css">[] } {
  return { brands: selectBrands(db).map(({ custom_css: _, ...brand }) => brand) };
}

/** The active brand; `null` when none is. */
export function getActiveBrand({ db }: Pick<Deps, "db">): { brand: Brand | null } {
  return { brand: selectActiveBrand(db) ?? null };
}

/** @throws {AppError} `not_found`. */
export function getBrand({ db }: Pick<Deps, "db">, id: string): Brand {
  const brand = selectBrand(db, id);
  if (!brand) throw notFound("Brand", id);
  return brand;
}

/**
 * Stores a new brand, which is not active.
 *
 * @throws {AppError} `invalid` for a logo that is no HTTPS address, and for a style sheet that does
 * more than style; `conflict` when there are too many brands.
 */
export function createBrand(deps: Omit<BrandDeps, "brand">, input: NewBrand): Brand {
  const { db, now, log } = deps;
  assertHarmless(input);
  if (countBrands(db) >= BRANDS_MAX) throw tooMany("brands", BRANDS_MAX);
  const at = now().toISOString();
  const id = crypto.randomUUID();
  insertBrand(db, { ...input, id, is_active: false, created_at: at, updated_at: at });
  log.info("brand created", { brandId: id });
  return getBrand(deps, id);
}

/**
 * Changes what is given and keeps the rest. A change of the active brand is seen at once.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one.
 */
export function changeBrand(deps: BrandDeps, id: string, change: Change<NewBrand>): Brand {
  const { db, now, log } = deps;
  const brand = getBrand(deps, id);
  assertHarmless(change);
  updateBrand(db, { ...applyChange(brand, change), updated_at: now().toISOString() });
  showActiveBrand(deps);
  log.info("brand changed", { brandId: id });
  return getBrand(deps, id);
}

/** Deletes a brand. Without the active one, no brand is active. @throws {AppError} `not_found`. */
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

/** Has the active brand shown to people. Called when Enterprise comes into force and at each change. */
export function showActiveBrand({ db, brand }: Pick<Deps, "db" | "brand">): void {
  brand.put(selectActiveBrand(db));
}

const LOGOS = ["logo_url", "logo_dark_url", "email_logo_url"] as const;

/** @throws {AppError} `invalid`. */
function assertHarmless(brand: Change<NewBrand>): void {
  for (const field of LOGOS) {
    const reason = brand[field] && reasonAgainstLogo(brand[field]);
    if (reason) throw new AppError("invalid", `body.${field}: ${reason}`);
  }
  const hostile = brand.custom_css && hostilePartOf(brand.custom_css);
  if (hostile) throw new AppError("invalid", `body.custom_css: must not have ${hostile}`);
}

function reasonAgainstLogo(text: string): string | undefined {
  // URL parsers repair a lot, each in its own way. An address that needs repair is refused.
  const url = /^https:\/\/[^\s"'<>\\^`{|}\p{C}]+$/iu.test(text) ? URL.parse(text) : null;
  if (!url || url.protocol !== "https:") return "must be an https:// URL";
  if (url.username || url.password) return "must not have a user or password";
  return undefined;
}
