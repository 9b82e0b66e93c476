/**
 * The look that an edition gives the service. Enterprise, which has brands, puts the look of the
 * active one here; pages and mails of all editions read it here.
 *
 * @module
 */

import { type Edition, includesEdition } from "../license/edition.ts";

/** The part of a brand that people see. What is not set is `null`. */
export interface Branding {
  readonly app_name: string;
  /** HTTPS addresses. */
  readonly logo_url: string | null;
  readonly logo_dark_url: string | null;
  /** `#rgb` or `#rrggbb`. */
  readonly primary_color: string | null;
  readonly secondary_color: string | null;
  readonly accent_color: string | null;
  /** Letters, digits, spaces and hyphens. */
  readonly font_family: string | null;
  /** A style sheet that loads nothing and cannot end the element that it stands in. */
  readonly custom_css: string | null;
}

export interface BrandCache {
  /** The same object until it changes; `undefined` without an active brand and without license. */
  readonly look: Branding | undefined;
  /** Replaces it. */
  put(look: Branding | undefined): void;
}

/** Editions below this one have the built-in look. */
const EDITION: Edition = "enterprise";

export function createBrandCache(license: { readonly edition: Edition }): BrandCache {
  let look: Branding | undefined;
  return {
    get look() {
      return includesEdition(license.edition, EDITION) ? look : undefined;
    },
    put: (next) => void (look = next),
  };
}
