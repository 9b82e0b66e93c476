/**
 * The status page in a real browser. Leaves pictures in `longshore-pictures` in the directory for
 * temporary files.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { tmpdir } from "node:os";
import { browserTest, startBrowser, type View } from "../helpers/browser.ts";
import { callPages, harborPage } from "../helpers/harbor_page.ts";
import { long } from "../helpers/long.ts";
import { LOWEST_CONTRAST, OVERFLOWING } from "../helpers/page_checks.ts";
import { serveApp } from "../helpers/served_app.ts";
import { newMonitor } from "../helpers/status_pages.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const PICTURES = `${tmpdir()}/longshore-pictures`;

const DESKTOP = { width: 1100, height: 800 };
const PHONE = { width: 390, height: 844 };

const VIEWS: Record<string, View> = {
  light: { ...DESKTOP, scheme: "light" },
  dark: { ...DESKTOP, scheme: "dark" },
  "phone-light": { ...PHONE, scheme: "light" },
  "phone-dark": { ...PHONE, scheme: "dark" },
  "narrow-dark": { width: 320, height: 600, scheme: "dark" },
};

browserTest(
  "the status page is whole, quiet and readable, in light and dark, on a desk and on a phone",
  async () => {
    using app = testApp({ edition: "pro" });
    await harborPage(app);
    await using site = serveApp(app);
    await using browser = await startBrowser();
    await Deno.mkdir(PICTURES, { recursive: true });
    const url = `${site.url}/status/harbor-goods`;
    const backgrounds = new Set<string>();
    for (const [name, view] of Object.entries(VIEWS)) {
      await browser.visit(url, view, async ({ complaints, requests, evaluate, picture }) => {
        await Deno.writeFile(`${PICTURES}/status-page-${name}.png`, await picture());
        deepEqual(await evaluate(OVERFLOWING), [], name);
        equal(await evaluate("document.documentElement.scrollWidth"), view.width, name);
        const { ratio, text } = await evaluate(LOWEST_CONTRAST);
        ok(ratio >= 4.5, `${name}: ${ratio} of ${text}`);
        backgrounds.add(await evaluate("getComputedStyle(document.body).backgroundColor"));
        equal(await evaluate("document.querySelector('.state').innerText.trim()"), "Operational");
        deepEqual(complaints, [], name);
        deepEqual(requests, [url], name);
      });
    }
    equal(backgrounds.size, 2);
  },
);

long(browserTest)(
  "uptime bars, maintenance and the form to subscribe fit every window, in the visitor's time",
  async () => {
    using app = testApp({ edition: "pro", config: { smtpUrl: "smtp://127.0.0.1:1" } });
    const { id } = await harborPage(app);
    await addHistory(app, id);
    await using site = serveApp(app);
    await using browser = await startBrowser();
    await Deno.mkdir(PICTURES, { recursive: true });
    for (const part of ["", "/subscribe"]) {
      const url = `${site.url}/status/harbor-goods${part}`;
      for (const [name, view] of Object.entries(VIEWS)) {
        await browser.visit(url, view, async ({ complaints, evaluate, picture }) => {
          const file = `status-history${part.replace("/", "-")}-${name}.png`;
          await Deno.writeFile(`${PICTURES}/${file}`, await picture());
          deepEqual(await evaluate(OVERFLOWING), [], file);
          const { ratio, text } = await evaluate(LOWEST_CONTRAST);
          ok(ratio >= 4.5, `${file}: ${ratio} of ${text}`);
          deepEqual(complaints, [], file);
          if (part !== "") return;
          equal(await evaluate("document.querySelectorAll('.bar').length"), 2);
          ok((await evaluate("document.getElementById('zone').innerText")).includes("time zone"));
          equal(await evaluate("document.querySelector('time').title.endsWith(' UTC')"), true);
        });
      }
    }
  },
);

/** Two components with monitors, an outage, and maintenance now and later. */
async function addHistory(app: TestApp, pageId: string): Promise<void> {
  const { db, metrics } = app.deps;
  for (const [n, name] of ["Orders", "Warehouse"].entries()) {
    const monitor = `m${n}`;
    newMonitor(app, monitor, "up");
    db.run("INSERT INTO monitor_lives (monitor_id, known_from) VALUES (:monitor, :from)", {
      monitor,
      from: `2026-0${n + 1}-05T00:00:00.000Z`,
    });
    metrics.run(
      `INSERT INTO uptime_latest (monitor_id, checked_at, known_until, failures)
       VALUES (:monitor, :at, :at, 0)`,
      { monitor, at: app.deps.now().getTime() },
    );
    await callPages(app, `/${pageId}/components`, { name, monitor_id: monitor });
  }
  for (const [n, hours] of [[3, 1], [9, 0.1], [17, 6]] as const) {
    db.run(
      `INSERT INTO outages (id, monitor_id, monitor_name, cause, started_at, resolved_at)
       VALUES (:id, 'm0', 'Orders', 'x', :start, :end)`,
      {
        id: `o${n}`,
        start: new Date(Date.UTC(2026, 1, n, 4)).toISOString(),
        end: new Date(Date.UTC(2026, 1, n, 4) + hours * 3_600_000).toISOString(),
      },
    );
  }
  const plan = (title: string, starts_at: string, ends_at: string) =>
    callPages(app, `/${pageId}/maintenances`, {
      title,
      message: "The shop is read-only for about ten minutes.",
      starts_at,
      ends_at,
    });
  await plan("Network work", "2026-03-10T14:00:00Z", "2026-03-10T15:00:00Z");
  await plan("Database upgrade", "2026-03-14T02:00:00Z", "2026-03-14T03:30:00Z");
}

long(browserTest)(
  "whatever names hold, the page stays in its window and runs nothing",
  async () => {
    using app = testApp({ edition: "pro" });
    const name = `<img src=x onerror="document.title='run'"><script>document.title="run"</script>`;
    const { id, slug } = await callPages(app, "", {
      name: name.slice(0, 100),
      description: "W".repeat(2_000),
      theme: { primary_color: "#ffe100" },
    });
    for (
      const [i, text] of [name.slice(0, 100), "שירות בדיקה \u202Egpj", "W".repeat(90)].entries()
    ) {
      await callPages(app, `/${id}/components`, {
        name: text,
        description: name,
        group_name: text,
        status: ["operational", "major_outage", "partial_outage"][i],
      });
      await callPages(app, `/${id}/incidents`, {
        title: text,
        message: `${name}\n${"W".repeat(2_000)}`,
        severity: "critical",
        status: "investigating",
      });
    }
    await using site = serveApp(app);
    await using browser = await startBrowser();
    await Deno.mkdir(PICTURES, { recursive: true });
    const url = `${site.url}/status/${slug}`;
    for (const view of ["light", "phone-dark", "narrow-dark"]) {
      await browser.visit(
        url,
        VIEWS[view]!,
        async ({ complaints, requests, evaluate, picture }) => {
          await Deno.writeFile(`${PICTURES}/status-page-hostile-${view}.png`, await picture());
          deepEqual(await evaluate(OVERFLOWING), [], view);
          ok((await evaluate("document.title")).startsWith("1 of 3 components is down"));
          deepEqual(await evaluate("[document.images.length, document.scripts.length]"), [0, 1]);
          ok((await evaluate(LOWEST_CONTRAST)).ratio >= 4.5);
          deepEqual([complaints, requests], [[], [url]], view);
        },
      );
    }
  },
);

long(browserTest)("the browser reads the badge and the feed as what they are", async () => {
  using app = testApp({ edition: "pro" });
  await harborPage(app);
  await using site = serveApp(app);
  await using browser = await startBrowser();
  await Deno.mkdir(PICTURES, { recursive: true });
  const view: View = { width: 200, height: 40, scheme: "light" };
  const base = `${site.url}/status/harbor-goods`;
  await browser.visit(`${base}/badge.svg`, view, async ({ complaints, evaluate, picture }) => {
    await Deno.writeFile(
      `${PICTURES}/status-page-badge.png`,
      await picture({ whole: false }),
    );
    equal(await evaluate("document.documentElement.localName"), "svg");
    ok(await evaluate("document.querySelectorAll('text')[1].getBBox().width > 60"));
    deepEqual(complaints, []);
  });
  await browser.visit(base, view, async ({ evaluate }) => {
    // The page's own policy allows no request, so that only the parser is asked.
    const feed = await (await fetch(`${base}/feed.atom`)).text();
    const root = await evaluate(
      `new DOMParser().parseFromString(${JSON.stringify(feed)}, "text/xml")` +
        `.documentElement.localName`,
    );
    equal(root, "feed");
  });
});
