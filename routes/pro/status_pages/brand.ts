/**
 * A status page in the look that the service was given: what of it gets into the page, and how far
 * each part of it is trusted.
 *
 * @module
 */

import type { Branding } from "../../../services/state/brand_cache.ts";
import type { PublicPage } from "../../../services/pro/status_pages/public.ts";
import { isColor, readableAs, readableOn } from "./colors.ts";
import { type Markup, markup } from "./markup.ts";
import sheet from "./brand.css" with { type: "text" };

/** For pages without a color of their own. */
const BRAND = "#1d3b5c";

/** What of the page's backgrounds is hardest to read on: `--page` in light, `--card` in dark. */
const LIGHT = "#f3f5f8";
const DARK = "#161c25";

/** What fonts fall back to, as in `status_page.css`. */
const FONTS = `system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif`;

/** The page's own color comes first, for it tells one page from another. */
export function brandColor(theme: PublicPage["theme"], look: Branding | undefined): string {
  return [theme.primary_color, look?.primary_color].find(isColor) ?? BRAND;
}

/** What goes before the page's style sheet, and what goes behind it. */
export function brandStyles(
  theme: PublicPage["theme"],
  look: Branding | undefined,
): { before: string; behind: string } {
  const color = brandColor(theme, look);
  const before = `:root{--brand:${color};--on-brand:${readableOn(color)}}`;
  if (!look) return { before, behind: "" };

  const { secondary_color, accent_color, font_family } = look;
  let behind = sheet;
  behind += `:root{--second:${isColor(secondary_color) ? secondary_color : color}}`;
  if (isColor(accent_color)) {
    behind += `:root{--link:${readableAs(accent_color, LIGHT)}}` +
      `@media (prefers-color-scheme:dark){:root{--link:${readableAs(accent_color, DARK)}}}`;
  }
  // A name in quotes is a name, whatever its letters spell.
  if (font_family !== null && /^[a-z0-9 -]+$/i.test(font_family)) {
    behind += `body{font-family:"${font_family}",${FONTS}}`;
  }
  return { before, behind };
}

/**
 * The brand's own style sheet, as the page's parser sees it. It was checked before it was stored;
 * here only that it stays in its element, which is what the page's safety hangs on.
 */
export function customStyle(look: Branding | undefined): string | undefined {
  const css = look?.custom_css?.replace(/\r\n?/g, "\n");
  return css && !/<[/!?]|\0/.test(css) ? css : undefined;
}

/** The band with the logo, or with the name where there is none. */
export function brandBand(look: Branding): Markup {
  const { app_name } = look;
  const { light, dark } = logosOf(look);
  return markup`<div class="brand">
<div class="wrap">
${
    light
      ? markup`<picture>${
        dark &&
        markup`<source media="(prefers-color-scheme: dark)" srcset="${
          dark.href.replace(/,+$/, (commas) => "%2C".repeat(commas.length))
        }">`
      }<img src="${light.href}" alt="${app_name}"></picture>`
      : markup`<p dir="auto">${app_name}</p>`
  }
</div>
</div>`;
}

/** From where the page loads pictures, for its policy: each by its address, nothing beside it. */
export function logoSources(look: Branding | undefined): string[] {
  const { light, dark } = look ? logosOf(look) : {};
  return [light, dark].flatMap((url) =>
    url ? [url.origin + url.pathname.replaceAll(";", "%3B").replaceAll(",", "%2C")] : []
  );
}

/** The only one there is serves for both. */
function logosOf(
  { logo_url, logo_dark_url }: Branding,
): { light: URL | null; dark: URL | null } {
  const [light, dark] = [logo_url, logo_dark_url].map((text) => {
    const url = text === null ? null : URL.parse(text);
    return url?.protocol === "https:" ? url : null;
  }) as [URL | null, URL | null];
  return light ? { light, dark } : { light: dark, dark: null };
}
