/**
 * The words of mails to subscribers. What people wrote is escaped in the HTML part, and each piece
 * of it has its own direction, so that text from right to left does not turn what stands around it.
 *
 * @module
 */

import type { StatusPageNotice } from "../../db/pro/status_page_notices.ts";
import type { StatusPage } from "../../db/pro/status_pages.ts";
import type { Mail } from "./mail_transport.ts";
import { INCIDENT_WORDS, STATUS_WORDS } from "./status_words.ts";

type Words = Pick<Mail, "subject" | "text" | "html">;

/** A component's or an incident's. */
const WORDS: Readonly<Record<string, string>> = { ...STATUS_WORDS, ...INCIDENT_WORDS };

/** Asks whether the owner of an address wants to be told. */
export function verificationMail(page: Pick<StatusPage, "name">, verifyUrl: string): Words {
  const why = "Somebody subscribed this address to news of the status page";
  const how = "To confirm, open this link:";
  const otherwise = "If you do not want this, do nothing: you will hear no more of it.";
  return {
    subject: `Confirm your subscription: ${page.name}`,
    text: [`${why} ${page.name}.`, `${how}\n${verifyUrl}`, otherwise].join("\n\n") + "\n",
    html: htmlMail(page.name, [
      `<p>${why} <bdi>${escaped(page.name)}</bdi>.</p>`,
      `<p>${how}<br>${link(verifyUrl)}</p>`,
      `<p>${otherwise}</p>`,
    ]),
  };
}

/** Tells that something of a page changed. */
export function noticeMail(
  page: Pick<StatusPage, "name">,
  { content, created_at }: Pick<StatusPageNotice, "content" | "created_at">,
  urls: { page: string; unsubscribe: string },
): Words {
  const { component, incident, old_status, new_status, message } = content;
  const what = incident ?? component ?? "";
  const now = wordsOf(new_status);
  const before = old_status === null || old_status === new_status
    ? ""
    : ` (before: ${wordsOf(old_status)})`;
  const at = `${created_at.slice(0, 16).replace("T", " ")} UTC`;
  const kind = incident === null ? "Component" : "Incident";
  return {
    subject: `[${page.name}] ${now}: ${what}`,
    text: [
      `${page.name}\n${kind}: ${what}\nStatus: ${now}${before}\n${at}`,
      ...(message === null ? [] : [message]),
      `Status page: ${urls.page}\nUnsubscribe: ${urls.unsubscribe}`,
    ].join("\n\n") + "\n",
    html: htmlMail(page.name, [
      `<p>${kind}: <strong><bdi>${escaped(what)}</bdi></strong><br>`,
      `Status: <strong>${escaped(now)}</strong>${escaped(before)}<br>${at}</p>`,
      ...(message === null
        ? []
        : [`<p dir="auto" style="white-space: pre-line">${escaped(message)}</p>`]),
      `<p>${link(urls.page, "Status page")} &middot; ${link(urls.unsubscribe, "Unsubscribe")}</p>`,
    ]),
  };
}

const wordsOf = (status: string) => WORDS[status] ?? status;

function htmlMail(title: string, lines: readonly string[]): string {
  return [
    `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(title)}</title></head>`,
    `<body style="font-family: sans-serif; line-height: 1.5">`,
    `<h1 dir="auto" style="font-size: 1.25em">${escaped(title)}</h1>`,
    ...lines,
    "</body></html>",
  ].join("\n");
}

const link = (url: string, words = url) => `<a href="${escaped(url)}">${escaped(words)}</a>`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
