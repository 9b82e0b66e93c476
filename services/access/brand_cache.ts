/**
 * The active branding. Enterprise stores it here; pages and mails of all editions read it.
 *
 * @module
 */

import type { MailBrand } from "../outbound/mail_html.ts";
import { type Edition, includesEdition } from "../edition.ts";

/** The visible part of a brand. Unset values are `null`. */
export interface Branding {
  readonly app_name: string;
  /** HTTPS addresses. */
  readonly logo_url: string | null;
  readonly logo_dark_url: string | null;
  readonly email_logo_url: string | null;
  /** `#rgb` or `#rrggbb`. */
  readonly primary_color: string | null;
  readonly secondary_color: string | null;
  readonly accent_color: string | null;
  /** Letters, digits, spaces and hyphens. */
  readonly font_family: string | null;
  /** A style sheet that loads nothing and cannot close its `<style>` element. */
  readonly custom_css: string | null;
}

/** The look of mails to people who work with the service. */
export const mailBrandOf = (branding: Branding | undefined): MailBrand =>
  branding
    ? { name: branding.app_name, color: branding.primary_color, logoUrl: branding.email_logo_url }
    : { name: "Longshore" };

export type BrandCache = ReturnType<typeof createBrandCache>;

export function createBrandCache(license: { readonly edition: Edition }) {
  let stored: Branding | undefined;
  return {
    /** The same object until it changes; `undefined` without an active brand or a license. */
    get current() {
      return includesEdition(license.edition, "enterprise") ? stored : undefined;
    },
    put: (branding: Branding | undefined): void => void (stored = branding),
  };
}
