/** A status page as one HTML document that loads no other files except logos. @module */

import type { Branding } from "../../../services/access/brand_cache.ts";
import type {
  PublicComponent,
  PublicIncident,
  PublicMaintenance,
  PublicPage,
} from "../../../services/pro/status_pages/public.ts";
import { type Markup, markup, trusted } from "../../html/markup.ts";
import { brandBand, brandColor, brandStyles, customStyle } from "./brand.ts";
import sheet from "./page.css" with { type: "text" };
import { headlineOf, shownStatus } from "./headline.ts";
import { LOCAL_TIMES, time } from "./time.ts";
import { uptimeBar } from "./uptime.ts";
import {
  INCIDENT_WORDS,
  MAINTENANCE_WORDS,
  SEVERITY_WORDS,
  STATUS_COLORS,
  STATUS_WORDS,
} from "./status_words.ts";

type Status = PublicPage["overall_status"];

/** A glyph on a disc: color alone does not distinguish statuses (WCAG 2.2, 1.4.1). */
const GLYPHS: Readonly<Record<Status, string>> = {
  operational: "M4.6 8.3 7 10.7l4.5-5",
  under_maintenance: "M8 4.3V8l2.6 1.9",
  degraded_performance: "M4.7 8h6.6",
  partial_outage: "M8 4.3v4.2M8 11.3v.2",
  major_outage: "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
};

/** Longer texts are truncated in the document's head. */
const SUMMARY_MAX = 300;

/** Seconds after which the page loads again. */
const REFRESH_S = 60;

/** The page's style sheet, with its color and the branding of the service. */
export function statusPageStyle({ theme }: Pick<PublicPage, "theme">, branding?: Branding): string {
  const { before, after } = brandStyles(theme, branding);
  return before + sheet + after;
}

/**
 * Renders the document.
 *
 * @param options.feedUrl The address of the page's feed.
 * @param options.subscribeUrl The address of the subscribe form, or `null`.
 * @param options.style The result of {@linkcode statusPageStyle}.
 */
export function statusPageView(
  page: PublicPage,
  { feedUrl, subscribeUrl, style, branding }: {
    feedUrl: string;
    subscribeUrl: string | null;
    style: string;
    branding?: Branding | undefined;
  },
): string {
  const { name, description, theme } = page;
  const overall = shownStatus(page);
  const headline = headlineOf(page);
  const active = page.maintenances.filter(({ status }) => status === "in_progress");
  const planned = page.maintenances.filter(({ status }) => status === "scheduled");
  const custom = customStyle(branding);
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="${REFRESH_S}">
<meta name="theme-color" content="${brandColor(theme, branding)}">
<title>${headline.slice(0, SUMMARY_MAX)} - ${name.slice(0, SUMMARY_MAX)}${
    branding && branding.app_name !== name ? ` - ${branding.app_name}` : ""
  }</title>
<meta name="description" content="${(description || headline).slice(0, SUMMARY_MAX)}">
<link rel="icon" href="${iconUrl(overall)}">
<link rel="alternate" type="application/atom+xml" title="Incidents" href="${feedUrl}">
<style>${trusted(style)}</style>${
    custom !== undefined && markup`
<style>${trusted(custom)}</style>`
  }
</head>
<body>
<header class="${branding ? "top branded" : "top"}">
${branding !== undefined && brandBand(branding)}<div class="wrap">
<h1 dir="auto">${name}</h1>
${description !== "" && markup`<p dir="auto">${description}</p>`}
${
    subscribeUrl !== null &&
    markup`<p class="subscribe"><a href="${subscribeUrl}">Subscribe to updates</a></p>`
  }
</div>
</header>
<main class="wrap">
<section class="card overall ${overall}" aria-labelledby="overall">
${disc(overall)}
<div>
<h2 id="overall" dir="auto">${headline}</h2>
<p>Last change: ${time(page.updated_at)}</p>
</div>
</section>
${page.active_incidents.length > 0 && activeIncidents(page.active_incidents)}
${active.length > 0 && maintenances("current", "Maintenance in progress", active, page.components)}
${page.components.length > 0 && components(page.components)}
${planned.length > 0 && maintenances("planned", "Planned maintenance", planned, page.components)}
${recentIncidents(page.recent_incidents)}
</main>
<footer class="wrap bottom">
<p>Follow this page with a feed reader: <a href="${feedUrl}">Atom feed</a>.${
    subscribeUrl !== null && markup` Or <a href="${subscribeUrl}">subscribe by email</a>.`
  }</p>
<p>This page reloads every minute. <span id="zone">All times are UTC.</span></p>
</footer>
<script>${trusted(LOCAL_TIMES)}</script>
</body>
</html>
`.text;
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
  { id, title, severity, status, created_at, resolved_at, updates }: PublicIncident,
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
<ol class="updates">
${updates.map(update)}</ol>
</article>
`;
}

function update({ status, message, created_at }: PublicIncident["updates"][number]): Markup {
  return markup`<li><p class="facts"><b>${INCIDENT_WORDS[status]}</b>${time(created_at)}</p>${
    message !== "" && markup`
<p class="message" dir="auto">${message}</p>`
  }</li>
`;
}

function maintenances(
  id: string,
  heading: string,
  list: readonly PublicMaintenance[],
  all: readonly PublicComponent[],
): Markup {
  return markup`<section aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
${list.map((each) => maintenance(each, all))}</section>`;
}

function maintenance(
  { id, title, message, status, starts_at, ends_at, component_ids }: PublicMaintenance,
  all: readonly PublicComponent[],
): Markup {
  const covered = all.filter((component) => component_ids.includes(component.id));
  return markup`<article class="card incident maintenance" id="maintenance-${id}">
<h3 dir="auto">${title}</h3>
<p class="facts"><b>${MAINTENANCE_WORDS[status]}</b>
<span>${time(starts_at)} to ${time(ends_at)}</span></p>${
    covered.length > 0 && markup`
<p class="facts"><span dir="auto">Affects: ${covered.map(({ name }) => name).join(", ")}</span></p>`
  }${
    message !== "" && markup`
<p class="message" dir="auto">${message}</p>`
  }
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

function component({ name, description, status, uptime }: PublicComponent): Markup {
  return markup`<li class="component ${status}">
<div><p class="name" dir="auto">${name}</p>${
    description !== "" && markup`<p class="about" dir="auto">${description}</p>`
  }</div>
<p class="state">${disc(status)}${STATUS_WORDS[status]}</p>${
    uptime && markup`
${uptimeBar(uptime)}`
  }
</li>
`;
}

function disc(status: Status): Markup {
  return markup`<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="8"/><path d="${
    GLYPHS[status]
  }"/></svg>`;
}

/** The icon of the browser tab: the same disc with fixed colors. */
function iconUrl(status: Status): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` +
    `<circle cx="8" cy="8" r="8" fill="${STATUS_COLORS[status]}"/><path d="${GLYPHS[status]}" ` +
    `fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
