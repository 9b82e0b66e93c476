/** The incidents of a status page as an Atom feed (RFC 4287). @module */

import { nodeCrypto } from "../../../services/builtins.ts";
import type {
  PublicIncident,
  PublicMaintenance,
  PublicPage,
} from "../../../services/pro/status_pages/public.ts";
import { type Markup, markup } from "../../html/markup.ts";
import { INCIDENT_WORDS, MAINTENANCE_WORDS, SEVERITY_WORDS } from "./status_words.ts";

interface FeedUrls {
  /** Absolute addresses of the page and of the feed itself. */
  page: string;
  feed: string;
}

/**
 * Renders open incidents, incidents resolved in the last 14 days and planned maintenance, last
 * changed first.
 */
export function statusPageFeed(page: PublicPage, urls: FeedUrls): string {
  const { name, description, slug, updated_at } = page;
  const entries = [
    ...[...page.active_incidents, ...page.recent_incidents].map(incidentEntry),
    ...page.maintenances.map(maintenanceEntry),
  ].sort((a, b) => a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0);
  return markup`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:uuid:${feedId(slug)}</id>
<title>${name}</title>
${description !== "" && markup`<subtitle>${description}</subtitle>`}
<updated>${updated_at}</updated>
<author><name>${name}</name></author>
<link rel="self" type="application/atom+xml" href="${urls.feed}"/>
<link rel="alternate" type="text/html" href="${urls.page}"/>
${entries.map((each) => entry(each, urls))}</feed>
`.text;
}

interface Entry {
  id: string;
  title: string;
  published: string;
  updated: string;
  /** Fragment of the page's address, without `#`. */
  anchor: string;
  category: { term: string; label: string };
  text: string;
}

function incidentEntry(
  { id, title, severity, status, created_at, updated_at, updates }: PublicIncident,
): Entry {
  return {
    id,
    title: `${INCIDENT_WORDS[status]}: ${title}`,
    published: created_at,
    updated: updated_at,
    anchor: `incident-${id}`,
    category: { term: severity, label: SEVERITY_WORDS[severity] },
    text: updates.map((update) =>
      `${minute(update.created_at)}, ${INCIDENT_WORDS[update.status]}` +
      (update.message === "" ? "" : `: ${update.message}`)
    ).join("\n\n") || INCIDENT_WORDS[status],
  };
}

function maintenanceEntry(
  { id, title, message, status, starts_at, ends_at, created_at, updated_at }: PublicMaintenance,
): Entry {
  return {
    id,
    title: `Maintenance ${MAINTENANCE_WORDS[status].toLowerCase()}: ${title}`,
    published: created_at,
    updated: updated_at,
    anchor: `maintenance-${id}`,
    category: { term: "maintenance", label: SEVERITY_WORDS.maintenance },
    text: [`${minute(starts_at)} to ${minute(ends_at)}`, message].filter(Boolean).join("\n\n"),
  };
}

/** E.g. `2026-01-31 12:00 UTC`. */
const minute = (at: string) => `${at.slice(0, 16).replace("T", " ")} UTC`;

function entry(
  { id, title, published, updated, anchor, category, text }: Entry,
  urls: FeedUrls,
): Markup {
  return markup`<entry>
<id>urn:uuid:${id}</id>
<title>${title}</title>
<published>${published}</published>
<updated>${updated}</updated>
<link rel="alternate" type="text/html" href="${urls.page}#${anchor}"/>
<category term="${category.term}" label="${category.label}"/>
<content type="text">${text}</content>
</entry>
`;
}

/** A UUID derived from the slug (RFC 9562, version 8), independent of the page's address. */
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
