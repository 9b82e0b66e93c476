/**
 * Contents of mails to subscribers. In the HTML part, texts of users are escaped and isolated, so
 * that right-to-left text does not affect its surroundings.
 *
 * @module
 */

import type { StatusPageNotice } from "../../../db/pro/status_pages/notices.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { escapeMarkup } from "../../text/escape_markup.ts";
import { htmlMail, type Mail } from "../../outbound/mail.ts";
import { INCIDENT_WORDS, MAINTENANCE_WORDS, STATUS_WORDS } from "./status_words.ts";

type MailContent = Pick<Mail, "subject" | "text" | "html">;

const WORDS: Readonly<Record<string, string>> = {
  ...STATUS_WORDS,
  ...INCIDENT_WORDS,
  ...MAINTENANCE_WORDS,
};

/** Asks the owner of an address to confirm a subscription. */
export function verificationMail(page: Pick<StatusPage, "name">, verifyUrl: string): MailContent {
  const why = "You are receiving this because this address was subscribed to the status page";
  const how = "To confirm, open this link:";
  const otherwise = "If you did not request this, ignore this mail. You will not get another one.";
  return {
    subject: `Confirm your subscription: ${page.name}`,
    text: [`${why} ${page.name}.`, `${how}\n${verifyUrl}`, otherwise].join("\n\n") + "\n",
    html: htmlMail(page.name, [
      `<p>${why} <bdi>${escapeMarkup(page.name)}</bdi>.</p>`,
      `<p>${how}<br>${link(verifyUrl)}</p>`,
      `<p>${otherwise}</p>`,
    ]),
  };
}

/** Reports a change of a page. */
export function noticeMail(
  page: Pick<StatusPage, "name">,
  { content, created_at }: Pick<StatusPageNotice, "content" | "created_at">,
  urls: { page: string; unsubscribe: string },
): MailContent {
  const { component, incident, maintenance, old_status, new_status, message } = content;
  const what = maintenance ?? incident ?? component ?? "";
  const now = wordsOf(new_status);
  const before = old_status === null || old_status === new_status
    ? ""
    : ` (before: ${wordsOf(old_status)})`;
  const at = moment(created_at);
  const { starts_at, ends_at } = content;
  const planned = starts_at && ends_at ? `Planned: ${moment(starts_at)} to ${moment(ends_at)}` : "";
  const kind = maintenance !== undefined
    ? "Maintenance"
    : incident === null
    ? "Component"
    : "Incident";
  return {
    subject: `[${page.name}] ${now}: ${what}`,
    text: [
      `${page.name}\n${kind}: ${what}\nStatus: ${now}${before}\n${planned && `${planned}\n`}${at}`,
      ...(message === null ? [] : [message]),
      `Status page: ${urls.page}\nUnsubscribe: ${urls.unsubscribe}`,
    ].join("\n\n") + "\n",
    html: htmlMail(page.name, [
      `<p>${kind}: <strong><bdi>${escapeMarkup(what)}</bdi></strong><br>`,
      `Status: <strong>${escapeMarkup(now)}</strong>${escapeMarkup(before)}<br>${
        planned && `${planned}<br>`
      }${at}</p>`,
      ...(message === null
        ? []
        : [`<p dir="auto" style="white-space: pre-line">${escapeMarkup(message)}</p>`]),
      `<p>${link(urls.page, "Status page")} &middot; ${link(urls.unsubscribe, "Unsubscribe")}</p>`,
    ]),
  };
}

/** E.g. `2026-01-31 12:00 UTC`. */
const moment = (at: string) => `${at.slice(0, 16).replace("T", " ")} UTC`;

const wordsOf = (status: string) => WORDS[status] ?? status;

const link = (url: string, words = url) =>
  `<a href="${escapeMarkup(url)}">${escapeMarkup(words)}</a>`;
