/**
 * A status page as HTML: one document without scripts or parts of its own, so that it is all there
 * or not at all.
 *
 * @module
 */

import type { Look } from "../../services/brand_board.ts";
import type {
  PublicComponent,
  PublicIncident,
  PublicPage,
} from "../../services/pro/status_page_public.ts";
import { type Markup, markup, trusted } from "./markup.ts";
import { brandBand, brandColor, brandStyles, customStyle } from "./status_page_brand.ts";
import sheet from "./status_page.css" with { type: "text" };
import { INCIDENT_WORDS, SEVERITY_WORDS, STATUS_COLORS, STATUS_WORDS } from "./status_words.ts";

type Status = PublicPage["overall_status"];

const SUMMARY: Readonly<Record<Status, string>> = {
  operational: "All systems are operational",
  under_maintenance: "Maintenance is under way",
  degraded_performance: "Some systems are slower than usual",
  partial_outage: "Some systems are down",
  major_outage: "There is a major outage",
};

/** A glyph on a disc, so that nobody has to tell statuses by colour. */
const GLYPHS: Readonly<Record<Status, string>> = {
  operational: "M4.6 8.3 7 10.7l4.5-5",
  under_maintenance: "M8 4.3V8l2.6 1.9",
  degraded_performance: "M4.7 8h6.6",
  partial_outage: "M8 4.3v4.2M8 11.3v.2",
  major_outage: "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
};

/** Long descriptions are for the page, not for its head. */
const SUMMARY_MAX = 300;

/** The page's style sheet, with its own colour and in the look that the service has. */
export function statusPageStyle({ theme }: Pick<PublicPage, "theme">, look?: Look): string {
  const { before, behind } = brandStyles(theme, look);
  return before + sheet + behind;
}

/**
 * The whole document.
 *
 * @param feedUrl Where the page's feed is.
 * @param style What {@linkcode statusPageStyle} made, and the page's policy allows.
 * @param look Of the service; its own style sheet is what `customStyle()` makes of it.
 */
export function statusPageView(
  page: PublicPage,
  { feedUrl, style, look }: { feedUrl: string; style: string; look?: Look | undefined },
): string {
  const { name, description, theme, overall_status: overall } = page;
  const custom = customStyle(look);
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="${brandColor(theme, look)}">
<title>${STATUS_WORDS[overall]} - ${name.slice(0, SUMMARY_MAX)}${
    look && look.app_name !== name ? ` - ${look.app_name}` : ""
  }</title>
<meta name="description" content="${(description || summaryOf(page)).slice(0, SUMMARY_MAX)}">
<link rel="icon" href="${iconUrl(overall)}">
<link rel="alternate" type="application/atom+xml" title="Incidents" href="${feedUrl}">
<style>${trusted(style)}</style>${
    custom !== undefined && markup`
<style>${trusted(custom)}</style>`
  }
</head>
<body>
<header class="${look ? "top branded" : "top"}">
${look !== undefined && brandBand(look)}<div class="wrap">
<h1 dir="auto">${name}</h1>
${description !== "" && markup`<p dir="auto">${description}</p>`}
</div>
</header>
<main class="wrap">
<section class="card overall ${overall}" aria-labelledby="overall">
${disc(overall)}
<div>
<h2 id="overall">${summaryOf(page)}</h2>
<p>Last change: ${time(page.updated_at)}</p>
</div>
</section>
${page.active_incidents.length > 0 && activeIncidents(page.active_incidents)}
${page.components.length > 0 && components(page.components)}
${recentIncidents(page.recent_incidents)}
</main>
<footer class="wrap bottom">
<p>Follow this page with a feed reader: <a href="${feedUrl}">Atom feed</a>.
For notices by mail or webhook, ask whoever runs these systems.</p>
<p>All times are UTC.</p>
</footer>
</body>
</html>
`.text;
}

/** What matters most, in one sentence. */
function summaryOf(
  { overall_status: overall, active_incidents }: Pick<
    PublicPage,
    "overall_status" | "active_incidents"
  >,
): string {
  const open = active_incidents.filter(({ severity }) => severity !== "maintenance").length;
  if (overall !== "operational" || open === 0) return SUMMARY[overall];
  return `Systems are operational, with ${open === 1 ? "an open incident" : "open incidents"}`;
}

function activeIncidents(incidents: readonly PublicIncident[]): Markup {
  return markup`<section aria-labelledby="active">
<h2 id="active">Active incidents</h2>
${incidents.map(incident)}
</section>`;
}

function recentIncidents(incidents: readonly PublicIncident[]): Markup {
  return markup`<section aria-labelledby="recent">
<h2 id="recent">Resolved in the last 14 days</h2>
${incidents.length > 0 ? incidents.map(incident) : markup`<p class="card none">No incidents.</p>`}
</section>`;
}

function incident(
  { id, title, message, severity, status, created_at, resolved_at }: PublicIncident,
): Markup {
  return markup`<article class="card incident ${severity}${
    resolved_at === null ? "" : " over"
  }" id="incident-${id}">
<h3 dir="auto">${title}</h3>
<p class="facts"><b>${INCIDENT_WORDS[status]}</b><span>${SEVERITY_WORDS[severity]}</span>
<span>Since ${time(created_at)}</span>${
    resolved_at !== null && markup`
<span>Resolved ${time(resolved_at)}</span>`
  }</p>
${message !== "" && markup`<p class="message" dir="auto">${message}</p>`}
</article>
`;
}

function components(all: readonly PublicComponent[]): Markup {
  const groups = Map.groupBy(all, ({ group_name }) => group_name ?? "");
  return markup`<section aria-labelledby="components">
<h2 id="components">Components</h2>
${
    [...groups].map(([group, members]) =>
      markup`<div class="card group">
${group !== "" && markup`<h3 dir="auto">${group}</h3>`}
<ul>
${members.map(component)}</ul>
</div>
`
    )
  }</section>`;
}

function component({ name, description, status }: PublicComponent): Markup {
  return markup`<li class="component ${status}">
<div><p class="name" dir="auto">${name}</p>${
    description !== "" && markup`<p class="about" dir="auto">${description}</p>`
  }</div>
<p class="state">${disc(status)}${STATUS_WORDS[status]}</p>
</li>
`;
}

function disc(status: Status): Markup {
  return markup`<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="8"/><path d="${
    GLYPHS[status]
  }"/></svg>`;
}

/** For the tab: the same disc, which has to bring its colours along. */
function iconUrl(status: Status): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` +
    `<circle cx="8" cy="8" r="8" fill="${STATUS_COLORS[status]}"/><path d="${GLYPHS[status]}" ` +
    `fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** E.g. `31 Jan 2026, 12:00`. */
function time(at: string): Markup {
  const [, year, month, day, clock] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(at)!;
  return markup`<time datetime="${at}">${
    Number(day)
  } ${MONTHS[Number(month) - 1]!} ${year!}, ${clock!}</time>`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
