/**
 * How the service looks to people, where an edition gives it a look of its own. Whoever shows
 * something to people reads it here; the edition that has brands fills it.
 *
 * @module
 */

import { type Edition, includesEdition } from "./edition.ts";

/** The part of a brand that people see. What is not set is `null`. */
export interface Look {
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
  /** A style sheet that loads nothing and cannot leave its element. */
  readonly custom_css: string | null;
}

export interface BrandBoard {
  /** The look in force: the same object until it changes, `undefined` without license or brand. */
  readonly look: Look | undefined;
  /** Takes over what was stored. */
  put(look: Look | undefined): void;
}

/** Editions below it have the looks that are built in. */
const EDITION: Edition = "enterprise";

export function createBrandBoard(license: { readonly edition: Edition }): BrandBoard {
  let look: Look | undefined;
  return {
    get look() {
      return includesEdition(license.edition, EDITION) ? look : undefined;
    },
    put: (next) => void (look = next),
  };
}
