/**
 * HTML parts of mails, in the look of the dashboard. Mail programs remove style sheets, so that all
 * styles are inline, and colors are those of light mode.
 *
 * @module
 */

import { escapeMarkup } from "../text/escape_markup.ts";

/** The sender's name and look. */
export interface MailBrand {
  name: string;
  /** `#rgb` or `#rrggbb`; anything else counts as missing. */
  color?: string | null | undefined;
  /** An HTTPS address, which is shown beside the name. */
  logoUrl?: string | null | undefined;
}

/** As `--accent-fill`, `--accent` and so on of the dashboard. */
const FILL = "#1f64d8";
const LINK = "#1557c7";
const TEXT = "#1a1f27";
const MUTED = "#596270";
const LINE = "#e3e6eb";
const PAGE = "#f7f8fa";

const FONT = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

const BODY = `margin:0;padding:24px 12px;background:${PAGE};color:${TEXT};font:15px/1.55 ${FONT}`;
const CARD = "max-width:560px;margin:0 auto;padding:20px 24px;background:#ffffff;" +
  `border:1px solid ${LINE};border-radius:8px;overflow-wrap:anywhere`;

/**
 * The document of a mail.
 *
 * @param lines Markup of paragraphs, in which texts are escaped.
 */
export function htmlMail(title: string, lines: readonly string[], brand: MailBrand): string {
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<title>${escapeMarkup(title)}</title></head>`,
    `<body style="${BODY}">`,
    `<div style="${CARD}">`,
    headOf(brand),
    `<h1 dir="auto" style="margin:0 0 12px;font-size:18px;line-height:1.3">${
      escapeMarkup(title)
    }</h1>`,
    ...lines,
    "</div>",
    "</body></html>",
  ].join("\n");
}

/** The logo, or a square of the color, and the name. */
function headOf({ name, color, logoUrl }: MailBrand): string {
  const fill = color && /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(color) ? color : FILL;
  const sign = logoUrl?.startsWith("https://")
    ? `<img src="${escapeMarkup(logoUrl)}" alt="" height="28" style="height:28px;border:0;` +
      `margin-right:8px;vertical-align:middle">`
    : `<span style="display:inline-block;width:12px;height:12px;margin-right:8px;` +
      `border-radius:3px;background:${fill};vertical-align:-1px"></span>`;
  return `<p style="margin:0 0 16px;padding:0 0 12px;border-bottom:1px solid ${LINE};` +
    `color:${MUTED};font-size:13px;font-weight:600">${sign}<bdi>${escapeMarkup(name)}</bdi></p>`;
}

/** A paragraph of markup. */
export const mailParagraph = (markup: string): string =>
  `<p dir="auto" style="margin:0 0 12px">${markup}</p>`;

/** A paragraph of a user's text, with its line breaks. */
export const mailText = (text: string): string =>
  `<p dir="auto" style="margin:0 0 12px;white-space:pre-line">${escapeMarkup(text)}</p>`;

/** A paragraph about the mail itself, e.g. its time. @param markup Markup. */
export const mailNote = (markup: string): string =>
  `<p style="margin:16px 0 0;color:${MUTED};font-size:13px">${markup}</p>`;

export const mailLink = (url: string, words = url): string =>
  `<a href="${escapeMarkup(url)}" style="color:${LINK}">${escapeMarkup(words)}</a>`;

/** A paragraph with a link that looks like a button. */
export const mailButton = (url: string, words: string): string =>
  `<p style="margin:16px 0 0"><a href="${escapeMarkup(url)}" style="display:inline-block;` +
  `padding:8px 14px;border-radius:6px;background:${FILL};color:#ffffff;font-weight:600;` +
  `text-decoration:none">${escapeMarkup(words)}</a></p>`;
