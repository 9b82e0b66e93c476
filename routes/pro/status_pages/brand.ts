/**
 * The branding of the service on a status page. Each part is checked before it gets into the page.
 *
 * @module
 */

import type { Branding } from "../../../services/access/brand_cache.ts";
import type { PublicPage } from "../../../services/pro/status_pages/public.ts";
import { isColor, readableAs, readableOn } from "../../html/colors.ts";
import { type Markup, markup } from "../../html/markup.ts";
import { trimEnd } from "../../../services/text/trim_end.ts";
import sheet from "./brand.css" with { type: "text" };

/** Default color. */
const BRAND = "#1f64d8";

/** Backgrounds with the least contrast: `--page` in light mode, `--card` in dark mode. */
const LIGHT = "#f7f8fa";
const DARK = "#16191f";

/** Fallback fonts, as in `page.css`. */
const FONTS =
  `system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif`;

/** The page's own color, or that of the branding. */
export function brandColor(theme: PublicPage["theme"], branding: Branding | undefined): string {
  return [theme.primary_color, branding?.primary_color].find(isColor) ?? BRAND;
}

/** Styles to put before and after the page's style sheet. */
export function brandStyles(
  theme: PublicPage["theme"],
  branding: Branding | undefined,
): { before: string; after: string } {
  const color = brandColor(theme, branding);
  const before = `:root{--brand:${color};--on-brand:${readableOn(color)}}`;
  if (!branding) return { before, after: "" };

  const { secondary_color, accent_color, font_family } = branding;
  let after = sheet;
  after += `:root{--second:${isColor(secondary_color) ? secondary_color : color}}`;
  if (isColor(accent_color)) {
    after += `:root{--link:${readableAs(accent_color, LIGHT)}}` +
      `@media (prefers-color-scheme:dark){:root{--link:${readableAs(accent_color, DARK)}}}`;
  }
  // Quoted, because an unquoted name could be a keyword.
  if (font_family !== null && /^[a-z0-9 -]+$/i.test(font_family)) {
    after += `body{font-family:"${font_family}",${FONTS}}`;
  }
  return { before, after };
}

/**
 * The branding's own style sheet. It was checked before it was stored. The check here repeats only
 * that it cannot end its element.
 */
export function customStyle(branding: Branding | undefined): string | undefined {
  const css = branding?.custom_css?.replace(/\r\n?/g, "\n");
  return css && !/<[/!?]|\0/.test(css) ? css : undefined;
}

/** A comma at the end of an address would separate it from the next one. */
function escapeCommas(address: string): string {
  const start = trimEnd(address, ",");
  return start + "%2C".repeat(address.length - start.length);
}

/** The band with the logo, or else the name. */
export function brandBand(branding: Branding): Markup {
  const { app_name } = branding;
  const { light, dark } = logosOf(branding);
  return markup`<div class="brand">
<div class="wrap">
${
    light
      ? markup`<picture>${
        dark &&
        markup`<source media="(prefers-color-scheme: dark)" srcset="${escapeCommas(dark.href)}">`
      }<img src="${light.href}" alt="${app_name}"></picture>`
      : markup`<p dir="auto">${app_name}</p>`
  }
</div>
</div>`;
}

/** Addresses of the logos, for the page's policy. */
export function logoSources(branding: Branding | undefined): string[] {
  const { light, dark } = branding ? logosOf(branding) : {};
  return [light, dark].flatMap((url) =>
    url ? [url.origin + url.pathname.replaceAll(";", "%3B").replaceAll(",", "%2C")] : []
  );
}

/** The logos for light and dark mode. A single logo is used for both. */
function logosOf({ logo_url, logo_dark_url }: Branding): { light: URL | null; dark: URL | null } {
  const [light, dark] = [logo_url, logo_dark_url].map((text) => {
    const url = text === null ? null : URL.parse(text);
    return url?.protocol === "https:" ? url : null;
  }) as [URL | null, URL | null];
  return light ? { light, dark } : { light: dark, dark: null };
}
