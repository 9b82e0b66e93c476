/**
 * Contents of mails to subscribers. In the HTML part, texts of users are escaped and isolated, so
 * that right-to-left text does not affect its surroundings.
 *
 * @module
 */

import type { StatusPageNotice } from "../../../db/pro/status_pages/notices.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { escapeMarkup } from "../../text/escape_markup.ts";
import type { Mail } from "../../outbound/mail.ts";
import {
  htmlMail,
  type MailBrand,
  mailButton,
  mailLink,
  mailNote,
  mailParagraph,
  mailText,
} from "../../outbound/mail_html.ts";
import { INCIDENT_WORDS, MAINTENANCE_WORDS, STATUS_WORDS } from "./status_words.ts";

type MailContent = Pick<Mail, "subject" | "text" | "html">;

const WORDS: Readonly<Record<string, string>> = {
  ...STATUS_WORDS,
  ...INCIDENT_WORDS,
  ...MAINTENANCE_WORDS,
};

/** Asks the owner of an address to confirm a subscription. */
export function verificationMail(
  page: Pick<StatusPage, "name">,
  verifyUrl: string,
  brand: MailBrand = page,
): MailContent {
  const why = "You are receiving this because this address was subscribed to the status page";
  const how = "To confirm, open this link:";
  const otherwise = "If you did not request this, ignore this mail. You will not get another one.";
  return {
    subject: `Confirm your subscription: ${page.name}`,
    text: [`${why} ${page.name}.`, `${how}\n${verifyUrl}`, otherwise].join("\n\n") + "\n",
    html: htmlMail("Confirm your subscription", [
      mailParagraph(`${why} <bdi>${escapeMarkup(page.name)}</bdi>.`),
      mailParagraph(`${how}<br>${mailLink(verifyUrl)}`),
      mailNote(otherwise),
    ], brand),
  };
}

/** Reports a change of a page. */
export function noticeMail(
  page: Pick<StatusPage, "name">,
  { content, created_at }: Pick<StatusPageNotice, "content" | "created_at">,
  urls: { page: string; unsubscribe: string },
  brand: MailBrand = page,
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
    html: htmlMail(what, [
      mailParagraph(
        `${kind}: <strong>${escapeMarkup(now)}</strong>${escapeMarkup(before)}` +
          (planned && `<br>${planned}`),
      ),
      ...(message === null ? [] : [mailText(message)]),
      mailButton(urls.page, "Open the status page"),
      mailNote(`${at} &middot; ${mailLink(urls.unsubscribe, "Unsubscribe")}`),
    ], brand),
  };
}

/** E.g. `2026-01-31 12:00 UTC`. */
const moment = (at: string) => `${at.slice(0, 16).replace("T", " ")} UTC`;

const wordsOf = (status: string) => WORDS[status] ?? status;
