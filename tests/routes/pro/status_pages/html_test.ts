import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { statusPageBadge } from "../../../../routes/pro/status_pages/badge.ts";
import { statusPageFeed } from "../../../../routes/pro/status_pages/feed.ts";
import { statusPageStyle, statusPageView } from "../../../../routes/pro/status_pages/view.ts";
import type { PublicPage } from "../../../../services/pro/status_pages/public.ts";
import { callPages, harborPage } from "../../../helpers/harbor_page.ts";
import { newMonitor } from "../../../helpers/status_pages.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const PAGE = "/status/harbor-goods";

const proApp = (config = {}) => testApp({ edition: "pro", config });

const read = (app: TestApp, path: string, headers: Record<string, string> = {}) =>
  app.call("GET", path, undefined, { role: "public", headers });

Deno.test("GET /status/:slug shows overall state, components by group, and incidents", async () => {
  using app = proApp();
  await harborPage(app);
  const { status, body, headers } = await read(app, PAGE);
  equal(status, 200);
  equal(headers.get("content-type"), "text/html; charset=utf-8");
  const seen = textOf(body);
  for (
    const text of [
      "Harbor Goods",
      "State of our shop and of everything behind it",
      "1 of 6 components has a partial outage, 1 has degraded performance, 1 is under maintenance " +
      "Last change: 10 Mar 2026, 13:58 UTC",
      "Active incidents Card payments fail now and then Identified Major Since 10 Mar 2026, 13:58 UTC " +
      "Identified 10 Mar 2026, 13:58 UTC About one in ten",
      "Components Shop Website What visitors see Operational Checkout",
      "Search Degraded performance Developers Public API For partners and apps Operational " +
      "Webhooks Under maintenance Help center Operational",
      "Resolved in the last 14 days Database upgrade Resolved Maintenance " +
      "Since 8 Mar 2026, 02:00 UTC Resolved 8 Mar 2026, 02:12 UTC " +
      "Resolved 8 Mar 2026, 02:12 UTC Done, a little later than planned. " +
      "Monitoring 8 Mar 2026, 02:00 UTC The shop is read-only for about ten minutes.",
      "All times are UTC.",
    ]
  ) ok(seen.includes(text), `${text}\n\n${seen}`);
  match(body, /<html lang="en">/);
  match(body, /--brand:#0f5c6e;--on-brand:#fff}/);
  match(body, /<a href="\/status\/harbor-goods\/feed\.atom">/);
});

Deno.test("the page loads nothing from other hosts, and its policy allows one script", async () => {
  using app = proApp();
  await harborPage(app);
  const { body, headers } = await read(app, PAGE);
  const policy = headers.get("content-security-policy")!;
  match(
    policy,
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'sha256-[\w+/]{43}='; img-src data:; base-uri /,
  );
  for (const element of ["style", "script"]) {
    const text = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(body)![1]!;
    const hash = new Uint8Array(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)),
    ).toBase64();
    ok(policy.includes(`${element}-src 'sha256-${hash}'`), element);
  }
  equal(
    /<script[^>]|<iframe|<img|<form|\son\w+=|\sstyle=|https?:/i.test(
      body.replaceAll(/data:[^"]+/g, ""),
    ),
    false,
  );
});

Deno.test("headings follow each other, and sections are named by them", async () => {
  using app = proApp();
  await harborPage(app);
  const { body } = await read(app, PAGE);
  const levels = [...body.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
  equal(levels.filter((level) => level === 1).length, 1);
  for (const [i, level] of levels.entries()) ok(level <= (levels[i - 1] ?? 0) + 1, String(levels));
  for (const [, id] of body.matchAll(/aria-labelledby="(\w+)"/g)) {
    equal(body.split(`<h2 id="${id}"`).length, 2, id);
  }
  deepEqual([...body.matchAll(/<(header|main|footer)\b/g)].map(([, name]) => name), [
    "header",
    "main",
    "footer",
  ]);
});

for (
  const [statuses, incident, sentence] of [
    [[], undefined, "All systems are operational"],
    [["operational"], "major", "Systems are operational, with an open incident"],
    [["operational"], "maintenance", "All systems are operational"],
    [["operational", "under_maintenance"], undefined, "1 of 2 components is under maintenance"],
    [
      ["under_maintenance", "degraded_performance"],
      undefined,
      "1 of 2 components has degraded performance, 1 is under maintenance",
    ],
    [["partial_outage", "partial_outage"], undefined, "All 2 components have a partial outage"],
    [["operational", "major_outage"], "minor", "1 of 2 components is down"],
    [["major_outage", "operational", "major_outage"], "minor", "2 of 3 components are down"],
    [["major_outage"], "minor", "A is down"],
  ] as const
) {
  Deno.test(`${statuses.join(" and ") || "no component"}, ${incident ?? "no"} incident: ${sentence}`, async () => {
    using app = proApp();
    const { id, slug } = await callPages(app, "", { name: "Acme" });
    for (const status of statuses) await callPages(app, `/${id}/components`, { name: "A", status });
    if (incident) {
      await callPages(app, `/${id}/incidents`, {
        title: "T",
        message: "M",
        severity: incident,
        status: "investigating",
      });
    }
    const { body } = await read(app, `/status/${slug}`);
    ok(textOf(body).includes(sentence), textOf(body));
  });
}

Deno.test("changes are visible immediately", async () => {
  using app = proApp();
  const { id, slug } = await callPages(app, "", { name: "Acme" });
  const first = await read(app, `/status/${slug}`);
  await callPages(app, `/${id}/components`, { name: "Engine room" });
  const second = await read(app, `/status/${slug}`);
  equal(first.body.includes("Engine room"), false);
  equal(second.body.includes("Engine room"), true);
  notEqual(first.headers.get("etag"), second.headers.get("etag"));
});

for (const part of ["", "/feed.atom", "/badge.svg"]) {
  Deno.test(`${part || "the page"} is answered with 304, or compressed unless it is small`, async () => {
    using app = proApp();
    await harborPage(app);
    const { status, headers, body } = await read(app, PAGE + part);
    deepEqual([status, headers.get("cache-control"), headers.get("vary")], [
      200,
      "public, max-age=15",
      "accept-encoding",
    ]);
    const etag = headers.get("etag")!;
    for (const known of [etag, etag.replace("W/", ""), `"x", ${etag}`]) {
      const again = await read(app, PAGE + part, { "if-none-match": known });
      deepEqual([again.status, again.body, again.headers.get("etag")], [304, undefined, etag]);
    }
    const packed = await app.fetch("GET", PAGE + part, undefined, {
      role: "public",
      headers: { "accept-encoding": "br, gzip" },
    });
    const isCompressed = part !== "/badge.svg";
    equal(packed.headers.get("content-encoding"), isCompressed ? "gzip" : null);
    const bytes = isCompressed
      ? packed.body!.pipeThrough(new DecompressionStream("gzip"))
      : packed.body!;
    equal(await new Response(bytes).text(), body);
    const head = await app.call("HEAD", PAGE + part, undefined, { role: "public" });
    deepEqual([head.status, head.body], [200, undefined]);
  });

  Deno.test(`without the license ${part || "the page"} is 404, like a private page`, async () => {
    using app = proApp();
    const { id, slug } = await harborPage(app);
    await callPages(app, `/${id}`, { is_public: false }, "PUT");
    const hidden = await read(app, PAGE + part);
    const unknown = await read(app, `/status/unknown${part}`);
    deepEqual([hidden.status, unknown.status], [404, 404]);
    equal(hidden.body.error.replace(slug, "unknown"), unknown.body.error);

    await callPages(app, `/${id}`, { is_public: true }, "PUT");
    equal((await read(app, PAGE + part)).status, 200);
    app.deps.license.use(undefined);
    deepEqual((await read(app, PAGE + part)).body, { error: `No such path: ${PAGE}${part}` });
  });
}

Deno.test("on its own domain the page is at the root, next to feed and badge", async () => {
  using app = proApp();
  await harborPage(app);
  for (const host of ["status.harbor.test", "STATUS.harbor.test:8443", "status.harbor.test."]) {
    for (
      const [path, part] of [
        ["/", ""],
        ["/?utm=1", ""],
        ["/feed.atom", "/feed.atom"],
        ["/badge.svg", "/badge.svg"],
      ]
    ) {
      const own = await read(app, path!, { host });
      const usual = await read(app, PAGE + part);
      deepEqual([host, path, own.status, own.body], [host, path, 200, usual.body]);
    }
  }
  equal((await read(app, "/livez", { host: "status.harbor.test" })).status, 200);
  equal(
    (await app.call("HEAD", "/", undefined, {
      role: "public",
      headers: { host: "status.harbor.test" },
    })).status,
    200,
  );
  const dashboardAt = (host: string) => read(app, "/", { host });
  match((await dashboardAt("other.harbor.test")).body, /dashboard needs JavaScript/);
  equal((await read(app, "/feed.atom", { host: "other.harbor.test" })).status, 404);
  equal((await app.call("POST", "/", {}, { headers: { host: "status.harbor.test" } })).status, 405);
  app.deps.license.use(undefined);
  match((await dashboardAt("status.harbor.test")).body, /dashboard needs JavaScript/);
});

Deno.test("the feed is valid Atom", async () => {
  using app = proApp({ serviceBaseUrl: "https://ops.harbor.test" });
  const page = await harborPage(app);
  const { body, headers } = await read(app, `${PAGE}/feed.atom`);
  equal(headers.get("content-type"), "application/atom+xml; charset=utf-8");
  equal(XMLValidator.validate(body), true);
  const { feed } = new XMLParser({ ignoreAttributes: false }).parse(body);
  deepEqual(
    [feed["@_xmlns"], feed.title, feed.subtitle, feed.author.name, feed.updated],
    [
      "http://www.w3.org/2005/Atom",
      "Harbor Goods",
      "State of our shop and of everything behind it",
      "Harbor Goods",
      "2026-03-10T13:58:00.000Z",
    ],
  );
  match(feed.id, UUID);
  deepEqual(feed.link.map((link: Record<string, string>) => [link["@_rel"], link["@_href"]]), [
    ["self", `https://ops.harbor.test${PAGE}/feed.atom`],
    ["alternate", `https://ops.harbor.test${PAGE}`],
  ]);
  deepEqual(feed.entry.map(({ title }: { title: string }) => title), [
    "Identified: Card payments fail now and then",
    "Resolved: Database upgrade",
    "Resolved: Slow product images",
  ]);
  for (const entry of feed.entry) {
    match(entry.id, UUID);
    match(entry.updated, /^2026-03-\d\dT[\d:.]+Z$/);
    match(entry.link["@_href"], new RegExp(`^https://ops.harbor.test${PAGE}#incident-[\\w-]+$`));
  }
  equal(new Set([feed.id, ...feed.entry.map(({ id }: { id: string }) => id)]).size, 4);

  await callPages(app, `/${page.id}`, { name: "Harbor & Sons" }, "PUT");
  const renamed = await read(app, `${PAGE}/feed.atom`);
  match(renamed.body, /<title>Harbor &amp; Sons<\/title>/);
  ok(renamed.body.includes(`<id>${feed.id}</id>`));
});

Deno.test("without SERVICE_BASE_URL the links of the feed have the host of the request", async () => {
  using app = proApp();
  await harborPage(app);
  for (const host of ["ops.harbor.test", "status.harbor.test:8443"]) {
    const request = new Request(`http://${host}${PAGE}/feed.atom`);
    const body = await (await app.app(request, "127.0.0.1")).text();
    const links = [...body.matchAll(/ href="([^"]*)"/g)].map(([, link]) => link!);
    ok(links.length > 4);
    for (const link of links) ok(link.startsWith(`http://${host}${PAGE}`), link);
  }
});

Deno.test("an unknown status page is a page for browsers, and JSON for other clients", async () => {
  using app = proApp();
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const page = await read(app, "/status/unknown", { accept });
  deepEqual([page.status, page.headers.get("content-type")], [404, "text/html; charset=utf-8"]);
  match(page.body, /<h2 id="notice">This status page does not exist<\/h2>/);
  const json = await read(app, "/status/unknown");
  deepEqual([json.status, json.headers.get("content-type")], [
    404,
    "application/json; charset=utf-8",
  ]);
});

Deno.test("the page loads again every minute and shows times in UTC until a script runs", async () => {
  using app = proApp();
  await harborPage(app);
  const { body } = await read(app, PAGE);
  match(body, /<meta http-equiv="refresh" content="60">/);
  match(body, /<time datetime="2026-03-10T13:58:00.000Z">10 Mar 2026, 13:58 UTC<\/time>/);
});

Deno.test("a component that follows a monitor has a bar of 90 days with its percentage", async () => {
  using app = proApp();
  app.clock.set("2026-03-10T12:00:00Z");
  const { id } = await callPages(app, "", { name: "Acme" });
  const { db, metrics } = app.deps;
  newMonitor(app, "m1", "up");
  db.run(
    `INSERT INTO monitor_lives (monitor_id, known_from)
     VALUES ('m1', '2026-03-01T00:00:00.000Z')`,
  );
  db.run(
    `INSERT INTO outages (id, monitor_id, monitor_name, cause, started_at, resolved_at)
     VALUES ('o1', 'm1', 'x', 'x', '2026-03-02T06:00:00.000Z', '2026-03-02T12:00:00.000Z')`,
  );
  metrics.run(
    `INSERT INTO uptime_latest (monitor_id, checked_at, known_until, failures)
     VALUES ('m1', :at, :at, 0)`,
    { at: Date.parse("2026-03-10T12:00:00Z") },
  );
  await callPages(app, `/${id}/components`, { name: "API", monitor_id: "m1" });
  await callPages(app, `/${id}/components`, { name: "Manual" });

  const json = (await read(app, "/api/ext/service-pro/status-pages/public/acme")).body;
  const { uptime_percent, days } = json.components[0].uptime;
  equal(json.components[1].uptime, null);
  equal(uptime_percent, 97.3684);
  equal(days.length, 90);
  deepEqual(days.slice(-10), [
    { date: "2026-03-01", uptime_percent: 100 },
    { date: "2026-03-02", uptime_percent: 75 },
    ...Array.from({ length: 8 }, (_, n) => ({
      date: `2026-03-${String(n + 3).padStart(2, "0")}`,
      uptime_percent: 100,
    })),
  ]);
  deepEqual(days[0], { date: "2025-12-11", uptime_percent: null });

  const { body } = await read(app, "/status/acme");
  equal(body.match(/<rect /g)!.length, 90);
  equal(body.match(/<rect class="unknown"/g)!.length, 80);
  match(body, /<rect class="down"[^>]*><title>2 Mar 2026: 75 %<\/title>/);
  match(
    body,
    /aria-label="97.36 % uptime in the last 90 days. Days with downtime: 1. Days without data: 80."/,
  );
  match(body, /<summary>1 day with downtime<\/summary><ul><li>2 Mar 2026: 75 %<\/li>/);
});

const UUID = /^urn:uuid:[\da-f]{8}-[\da-f]{4}-[48][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

Deno.test("the badge has the status as text and label, and can be embedded on any site", async () => {
  using app = proApp();
  await harborPage(app);
  const { body, headers } = await read(app, `${PAGE}/badge.svg`);
  deepEqual([headers.get("content-type"), headers.get("cross-origin-resource-policy")], [
    "image/svg+xml; charset=utf-8",
    "cross-origin",
  ]);
  equal(XMLValidator.validate(body), true);
  match(body, /role="img" aria-label="Harbor Goods: partial outage">\n<title>Harbor Goods: /);
  match(body, />partial outage<\/text>/);
});

Deno.test("components and incidents are only on their own page", async () => {
  using app = proApp();
  await harborPage(app);
  const other = await callPages(app, "", { name: "Other" });
  await callPages(app, `/${other.id}/components`, { name: "Secret engine" });
  for (const part of ["", "/feed.atom", "/badge.svg"]) {
    equal((await read(app, PAGE + part)).body.includes("Secret engine"), false);
    equal((await read(app, `/status/${other.slug}${part}`)).body.includes("Checkout"), false);
  }
});

const HOSTILE = {
  HTML: `</title></style><script>alert(1)</script><img src=x onerror="alert(2)">'"&`,
  emoji: "👩‍👩‍👧‍👦🏳️‍🌈🔴",
  "right-to-left text": "מצב השירותים \u202E gpj.exe \u2067",
  "control characters": "a\x00b\x1B[2Jc\uFFFEd\uD83D",
  "a comment's end": "--> ]]> <!--",
};

for (const [what, piece] of Object.entries(HOSTILE)) {
  Deno.test(`10 000 characters are safe in page, feed and badge: ${what}`, () => {
    const text = piece.repeat(Math.ceil(10_000 / piece.length));
    const page = pageOf(text);
    const html = statusPageView(page, {
      feedUrl: "/f",
      subscribeUrl: "/s",
      style: statusPageStyle(page),
    });
    const feed = statusPageFeed(page, { page: "/p", feed: "/f" });
    const badge = statusPageBadge(page);
    equal(XMLValidator.validate(feed), true);
    equal(XMLValidator.validate(badge), true);
    for (const part of [html, feed, badge]) {
      ok(part.isWellFormed());
      // deno-lint-ignore no-control-regex
      equal(/[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/.test(part), false);
      equal(/<script[^>]|<img|onerror="/.test(part), false);
      equal(part.split("<script>").length, part.includes("<html") ? 2 : 1);
    }
    equal(html.match(/<style>/g)?.length, 1);
    equal(html.match(/<title>/g)?.length, 3, "the page's and one for each day of the bar");
    ok(badge.length < 3_000);
  });
}

for (
  const [color, brand, text] of [
    ["#fff", "#fff", "#000"],
    ["#FFD400", "#FFD400", "#000"],
    ["#777", "#777", "#000"],
    ["#c4222c", "#c4222c", "#fff"],
    ["#000000", "#000000", "#fff"],
    [undefined, "#1f64d8", "#fff"],
    ["red;}</style><script>", "#1f64d8", "#fff"],
    ["#12345", "#1f64d8", "#fff"],
    ["#abc\n}", "#1f64d8", "#fff"],
  ] as const
) {
  Deno.test(`the colour ${JSON.stringify(color)} becomes ${brand} with ${text} on it`, () => {
    const style = statusPageStyle({ theme: { primary_color: color } });
    ok(style.startsWith(`:root{--brand:${brand};--on-brand:${text}}`), style.slice(0, 80));
    equal(style.includes("</style>"), false);
  });
}

function pageOf(text: string): PublicPage {
  const at = "2026-01-31T12:00:00.000Z";
  const incident = {
    id: "5c0b7d0e-3c1f-4b0e-9f0a-0d8f7c1f2a3b",
    title: text,
    message: text,
    severity: "major",
    created_at: at,
    updated_at: at,
    updates: [{ id: "u1", status: "identified", message: text, created_at: at }],
  } satisfies Partial<PublicPage["active_incidents"][number]>;
  return {
    name: text,
    slug: "page",
    description: text,
    theme: {},
    overall_status: "major_outage",
    components: [{
      id: "c1",
      name: text,
      description: text,
      status: "major_outage",
      display_order: 0,
      group_name: text,
      uptime: {
        uptime_percent: 99.5,
        days: [{ date: "2026-01-30", uptime_percent: null }, {
          date: "2026-01-31",
          uptime_percent: 99.5,
        }],
      },
    }],
    maintenances: [{
      id: "5c0b7d0e-3c1f-4b0e-9f0a-0d8f7c1f2a3c",
      title: text,
      message: text,
      status: "in_progress",
      starts_at: at,
      ends_at: at,
      component_ids: ["c1"],
      created_at: at,
      updated_at: at,
    }],
    active_incidents: [{ ...incident, status: "identified", resolved_at: null }],
    recent_incidents: [{ ...incident, status: "resolved", resolved_at: at }],
    updated_at: at,
  };
}

/** The text with single spaces. */
function textOf(html: string): string {
  return html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "").replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ").replaceAll(" .", ".");
}
