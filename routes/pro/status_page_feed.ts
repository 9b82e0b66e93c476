/**
 * The incidents of a status page as an Atom feed (RFC 4287).
 *
 * @module
 */

import { nodeCrypto } from "../../services/builtins.ts";
import type { PublicIncident, PublicPage } from "../../services/pro/status_page_public.ts";
import { type Markup, markup } from "./markup.ts";
import { INCIDENT_WORDS, SEVERITY_WORDS } from "./status_words.ts";

export interface FeedUrls {
  /** Where the page is, and where the feed itself; may be without a host. */
  page: string;
  feed: string;
}

/** Those that are open and those of the last 14 days, the last changed first. */
export function statusPageFeed(page: PublicPage, urls: FeedUrls): string {
  const { name, description, slug, updated_at } = page;
  const incidents = [...page.active_incidents, ...page.recent_incidents]
    .sort((a, b) => a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0);
  return markup`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:uuid:${feedId(slug)}</id>
<title>${name}</title>
${description !== "" && markup`<subtitle>${description}</subtitle>`}
<updated>${updated_at}</updated>
<author><name>${name}</name></author>
<link rel="self" type="application/atom+xml" href="${urls.feed}"/>
<link rel="alternate" type="text/html" href="${urls.page}"/>
${incidents.map((incident) => entry(incident, urls))}</feed>
`.text;
}

function entry(
  { id, title, message, severity, status, created_at, updated_at }: PublicIncident,
  urls: FeedUrls,
): Markup {
  return markup`<entry>
<id>urn:uuid:${id}</id>
<title>${INCIDENT_WORDS[status]}: ${title}</title>
<published>${created_at}</published>
<updated>${updated_at}</updated>
<link rel="alternate" type="text/html" href="${urls.page}#incident-${id}"/>
<category term="${severity}" label="${SEVERITY_WORDS[severity]}"/>
<content type="text">${message || INCIDENT_WORDS[status]}</content>
</entry>
`;
}

/**
 * The same for as long as the page exists, under whatever address it is read: a UUID made from the
 * slug (version 8 of RFC 9562, which leaves the way of making it open).
 */
function feedId(slug: string): string {
  const hash = nodeCrypto().createHash("sha256").update(`longshore status page ${slug}`)
    .digest("hex");
  const variant = "89ab"[parseInt(hash[16]!, 16) % 4];
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}
