/** The status of a page as a small SVG, for a README or a site's footer. @module */

import type { PublicPage } from "../../../services/pro/status_pages/public.ts";
import { markup } from "../../html/markup.ts";
import { shownStatus } from "./headline.ts";
import { STATUS_COLORS, STATUS_WORDS } from "./status_words.ts";

const LABEL = "status";

/** Average width of a letter, and padding on both sides of a text, in pixels. */
const LETTER_WIDTH = 6.4;
const PADDING = 7;

/** Longer names are truncated, because screen readers read them out. */
const NAME_MAX = 100;

export function statusPageBadge(page: PublicPage): string {
  const { name } = page;
  const overall = shownStatus(page);
  const words = STATUS_WORDS[overall].toLowerCase();
  const title = `${name.slice(0, NAME_MAX)}: ${words}`;
  const left = widthOf(LABEL);
  const right = widthOf(words);
  const width = left + right;
  // `textLength` fits the text to the computed width in any font.
  const text = (content: string, from: number, width: number) =>
    markup`<text x="${from + width / 2}" y="14" textLength="${
      width - 2 * PADDING
    }">${content}</text>`;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${title}">
<title>${title}</title>
<clipPath id="round"><rect width="${width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#round)">
<rect width="${left}" height="20" fill="#444c56"/>
<rect x="${left}" width="${right}" height="20" fill="${STATUS_COLORS[overall]}"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana, DejaVu Sans, Geneva, sans-serif" font-size="11">
${text(LABEL, 0, left)}
${text(words, left, right)}
</g>
</svg>
`.text;
}

const widthOf = (text: string) => Math.round(text.length * LETTER_WIDTH) + 2 * PADDING;
